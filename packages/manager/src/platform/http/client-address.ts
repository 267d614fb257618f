// The address of the client, for audit rows and throttles. X-Forwarded-For is believed only from a proxy we trust.
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { parseAddress } from './ip-address.ts'

export type ClientAddress = (request: IncomingMessage, cameThroughProxy: boolean) => string

/** The right-most hop that is not itself a trusted proxy; the peer address when the peer is not a trusted proxy. */
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

/** What a throttle counts as one client: an IPv4 address, or the /64 network that one IPv6 customer is given. */
export function clientNetwork(address: string): string {
  // At every request: most addresses are IPv4 and stay as they are.
  const parsed = isIP(address) === 6 ? parseAddress(address) : null
  if (parsed === null || !('parts' in parsed)) return address
  const network = parsed.parts.slice(0, 4)
  return `${network.map((group) => group.toString(16)).join(':')}::/64`
}

/** An IPv4 address that arrives mapped into IPv6, however it is spelt, is the IPv4 address. */
function plain(address: string): string {
  const parsed = isIP(address) === 6 ? parseAddress(address) : null
  const isMapped = parsed !== null && 'parts' in parsed && parsed.isIPv4MappedAddress()
  return isMapped ? parsed.toIPv4Address().toString() : address
}
