// The compiled half of Boost.Asio: BOOST_ASIO_SEPARATE_COMPILATION, which every user of kit_asio is built with.
#include <boost/asio/impl/src.hpp>
