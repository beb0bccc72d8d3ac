import { isIP } from 'node:net';
import { credentials } from '@grpc/grpc-js';

/** What gRPC does not show of its credentials for TLS. */
interface TlsCredentials {
  _createSecureConnector(...args: unknown[]): { connectionOptions: { servername?: string } };
}

/**
 * gRPC tells a server by which name it is meant also when that is an IP address, as members of a cluster often are known by. TLS has no
 * such names (RFC 6066 §3): Node warned of it, and from 26 on it does not connect. Without the name the certificate is held against the
 * address all the same.
 */
export function nameNoAddresses(): void {
  const tls = Object.getPrototypeOf(credentials.createSsl()) as TlsCredentials;
  const { _createSecureConnector: connector } = tls;
  tls._createSecureConnector = function (this: TlsCredentials, ...args) {
    const made = connector.apply(this, args);
    if (isIP(made.connectionOptions.servername ?? '')) delete made.connectionOptions.servername;
    return made;
  };
}
