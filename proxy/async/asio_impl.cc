// The one translation unit that holds Asio's non-template code (BOOST_ASIO_SEPARATE_COMPILATION, see CMakeLists.txt).
#include <boost/asio/impl/src.hpp>
