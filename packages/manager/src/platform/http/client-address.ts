// The address of the client, for audit rows and throttles. X-Forwarded-For is believed only from a proxy we trust.
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

export type ClientAddress = (request: IncomingMessage, cameThroughProxy: boolean) => string

/** The right-most hop that is not itself a trusted proxy; the peer address when nobody trusted speaks. */
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
  if (isIP(address) !== 6) return address
  const network = groupsOf(address).slice(0, 4)
  return `${network.map((group) => group.toString(16)).join(':')}::/64`
}

/** An IPv4 address that arrives mapped into IPv6, however it is spelt, is the IPv4 address. */
function plain(address: string): string {
  if (isIP(address) !== 6) return address
  const groups = groupsOf(address)
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)
  if (!isMapped) return address
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.')
}

/** The eight groups of a valid IPv6 address. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::')
  const [before, after] = [readGroups(head), readGroups(tail ?? '')]
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0)
  return [...before, ...zeros, ...after]
}

const readGroups = (part: string): number[] =>
  part === '' ? [] : part.split(':').flatMap((group) => readGroup(group))

/** A group, or the two groups of an IPv4 address at the end. */
function readGroup(group: string): number[] {
  if (!group.includes('.')) return [Number.parseInt(group, 16)]
  const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
  return [a * 256 + b, c * 256 + d]
}
