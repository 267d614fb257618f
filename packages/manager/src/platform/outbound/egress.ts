// Where outbound calls may go. Backends are internal, so private networks and this machine are allowed unless the
// operator says otherwise; what no backend has is refused always, and so are the services this process itself is built
// on.
import { networkInterfaces } from 'node:os'
import { type AddressClass, bareHost, classifyAddress, createCidrSet, plainAddress } from './addresses.ts'
import type { Lookup } from './names.ts'

/** Both return why the address must not be called, as a text that follows "it is", or null when it may be. */
export type Egress = {
  /** By the address alone. */
  problemOfAddress(address: string): string | null
  /** By the address, and by what listens at the port. */
  problemOf(address: string, port: number): Promise<string | null>
}

export type EgressOptions = {
  /** When not empty, nothing else is called. */
  allowedCidrs: readonly string[]
  /** Wins over what is allowed. */
  deniedCidrs: readonly string[]
  /** The database, Redis and the health port. */
  ownServices: readonly { host: string; port: number }[]
  lookup: Lookup
}

/** Never called, in any configuration. 0.0.0.0 and :: are this machine in a spelling that no backend has. */
const refused: Partial<Record<AddressClass, string>> = {
  unspecified: 'an unspecified address',
  'link-local': 'a link-local address',
  metadata: 'a metadata service',
  multicast: 'a multicast address',
  tunnel: 'the end of a tunnel',
}

/** Judges addresses, not names: a name is judged by every address it resolves to. */
export function createEgress({ allowedCidrs, deniedCidrs, ownServices, lookup }: EgressOptions): Egress {
  const [isAllowed, isDenied] = [createCidrSet(allowedCidrs), createCidrSet(deniedCidrs)]
  const problemOfAddress = (address: string): string | null => {
    const [kind, plain] = [classifyAddress(address), plainAddress(address)]
    if (kind === null || plain === null) return 'no address'
    if (refused[kind] !== undefined) return refused[kind]
    if (isDenied(address)) return 'in a denied network'
    // By the IPv4 address inside alone: a network of IPv6 that surrounds a wrapping does not allow what is wrapped.
    return allowedCidrs.length === 0 || isAllowed(plain) ? null : 'outside the allowed networks'
  }
  const isOwn = async (address: string, host: string): Promise<boolean> => {
    const name = bareHost(host)
    const own = classifyAddress(name) === null ? await lookup(name) : [{ address: name }]
    return own.some((service) => isSameHost(service.address, address))
  }
  return {
    problemOfAddress,
    problemOf: async (address, port) => {
      const problem = problemOfAddress(address)
      if (problem !== null) return problem
      const hosts = ownServices.filter((service) => service.port === port).map((service) => service.host)
      // A service of ours whose name does not resolve could be anywhere.
      const verdicts = hosts.map((host) => isOwn(address, host).catch(() => true))
      return (await Promise.all(verdicts)).includes(true) ? 'a service of our own' : null
    },
  }
}

const isSameHost = (a: string, b: string): boolean =>
  plainAddress(a) === plainAddress(b) || (isThisMachine(a) && isThisMachine(b))

/** What listens on one address of this machine mostly listens on all of them. */
function isThisMachine(address: string): boolean {
  const kind = classifyAddress(address)
  if (kind === 'loopback' || kind === 'unspecified') return true
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return interfaces.some((own) => plainAddress(own.address) === plainAddress(address))
}
