// The compiled half of Boost.Beast: BOOST_BEAST_SEPARATE_COMPILATION, which every user of kit_beast is built with.
#include <boost/beast/src.hpp>
