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
      const address = plain(hop.trim())
      if (isIP(address) === 0) return peer
      if (!isTrusted(address)) return address
    }
    return peer
  }
}

/** What a throttle counts as one client: an IPv4 address, or the /64 network that one IPv6 customer is given. */
export function clientNetwork(address: string): string {
  if (isIP(address) !== 6) return address
  const [head = '', tail] = address.split('::')
  const before = groupsOf(head)
  // Only the first four groups count, and `::` stands for at least one group of zeros.
  const zeros = tail === undefined ? 0 : 8 - before.length - groupsOf(tail).length
  const all = [...before, ...Array.from({ length: zeros }, () => '0'), ...groupsOf(tail ?? '')]
  const network = all.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${network.join(':')}::/64`
}

const groupsOf = (part: string): string[] => (part === '' ? [] : part.split(':'))

/** An IPv4 address that arrives mapped into IPv6 is the IPv4 address. */
const plain = (address: string): string =>
  /^::ffff:\d+\.\d+\.\d+\.\d+$/i.test(address) ? address.slice(7) : address
