// The client address for audit rows and throttles. X-Forwarded-For is used only if a trusted proxy sends it.
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { parseAddress } from './ip-address.ts'

/** Returns the client address of a request, or an empty string if it has no peer. */
export type ClientAddress = (request: IncomingMessage, cameThroughProxy: boolean) => string

/** Creates the reader. It returns the right-most hop that is not trusted, or the peer if the peer is not trusted. */
export function createClientAddress(trustedCidrs: readonly string[]): ClientAddress {
  const trustedNetworks = new BlockList()
  for (const cidr of trustedCidrs) {
    const [address = '', bits = ''] = cidr.split('/')
    trustedNetworks.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4')
  }
  const isTrusted = (address: string): boolean =>
    trustedNetworks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  return (request, cameThroughProxy) => {
    const peer = unmapAddress(request.socket.remoteAddress ?? '')
    if (!cameThroughProxy && !(isIP(peer) !== 0 && isTrusted(peer))) return peer
    const hops = String(request.headers['x-forwarded-for'] ?? '').split(',')
    for (const hop of hops.toReversed()) {
      const address = unmapAddress(stripPort(hop.trim()))
      if (isIP(address) === 0) return peer
      if (!isTrusted(address)) return address
    }
    return peer
  }
}

/** Removes the port: some proxies write 192.0.2.1:4711 or [2001:db8::1]:4711. */
const stripPort = (hop: string): string =>
  /^\[(.*)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop

/** Returns the /64 network of an IPv6 address; any other text is returned unchanged. */
export function getClientNetwork(address: string): string {
  // This function runs on every request, so IPv4 addresses, the most frequent kind, are not parsed.
  const parsedAddress = isIP(address) === 6 ? parseAddress(address) : null
  if (parsedAddress === null || !('parts' in parsedAddress)) return address
  const network = parsedAddress.parts.slice(0, 4)
  return `${network.map((group) => group.toString(16)).join(':')}::/64`
}

/** Converts an IPv4 address that is mapped into IPv6, in any spelling, to the IPv4 address. */
function unmapAddress(address: string): string {
  const parsedAddress = isIP(address) === 6 ? parseAddress(address) : null
  const isMapped = parsedAddress !== null && 'parts' in parsedAddress && parsedAddress.isIPv4MappedAddress()
  return isMapped ? parsedAddress.toIPv4Address().toString() : address
}
