#include "tests/example/notes.hpp"

int main(int argc, char** argv) { return stackgate::service::run(stackgate::notes::notes_service(), argc, argv); }
