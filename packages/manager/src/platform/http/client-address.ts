// The client address for audit rows and throttles. X-Forwarded-For counts only if a trusted proxy sends it.
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { parseAddress } from './ip-address.ts'

/** Returns the client address of a request, or an empty string if it has no peer. */
export type ClientAddress = (request: IncomingMessage, cameThroughProxy: boolean) => string

/** Creates the reader. It returns the right-most hop that is not trusted, or the peer if the peer is not trusted. */
export function createClientAddress(trustedCidrs: readonly string[]): ClientAddress {
  const trusted = new BlockList()
  for (const cidr of trustedCidrs) {
    const [address = '', bits = ''] = cidr.split('/')
    trusted.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4')
  }
  const isTrusted = (address: string): boolean =>
    trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  return (request, cameThroughProxy) => {
    const peer = plain(request.socket.remoteAddress ?? '')
    if (!cameThroughProxy && !(isIP(peer) !== 0 && isTrusted(peer))) return peer
    const hops = String(request.headers['x-forwarded-for'] ?? '').split(',')
    for (const hop of hops.toReversed()) {
      const address = plain(withoutPort(hop.trim()))
      if (isIP(address) === 0) return peer
      if (!isTrusted(address)) return address
    }
    return peer
  }
}

/** Some proxies write 192.0.2.1:4711 or [2001:db8::1]:4711. */
const withoutPort = (hop: string): string =>
  /^\[(.*)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop

/** Returns the unit that a throttle counts: an IPv4 address, or the /64 network of one IPv6 customer. */
export function clientNetwork(address: string): string {
  // The function runs on every request; most addresses are IPv4 and are returned unchanged.
  const parsed = isIP(address) === 6 ? parseAddress(address) : null
  if (parsed === null || !('parts' in parsed)) return address
  const network = parsed.parts.slice(0, 4)
  return `${network.map((group) => group.toString(16)).join(':')}::/64`
}

/** Converts an IPv4 address that is mapped into IPv6, in any spelling, to the IPv4 address. */
function plain(address: string): string {
  const parsed = isIP(address) === 6 ? parseAddress(address) : null
  const isMapped = parsed !== null && 'parts' in parsed && parsed.isIPv4MappedAddress()
  return isMapped ? parsed.toIPv4Address().toString() : address
}
