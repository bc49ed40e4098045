// The one translation unit that holds Asio's non-template TLS code (BOOST_ASIO_SEPARATE_COMPILATION); the gateway
// drives OpenSSL by itself and needs none of it.
#include <boost/asio/ssl/impl/src.hpp>
