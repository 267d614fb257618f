// Resolves the names of upstreams. Node's own lookup runs in two threads of the process, so one unresponsive name
// server would block the lookups of all projects. Here no thread waits, and each project has a share of the concurrent
// lookups. Results are cached for a few seconds, and each lookup has its own timeout.
import { LRUCache } from 'lru-cache'
import { type FairShare, createFairShare } from '../throttle/fair-share.ts'
import { createSingleFlight } from '../cache/single-flight.ts'
import { type Address, createLookupFailedError, createNameNotFoundError, resolveName } from './dns-lookup.ts'
import { createCachedFile, parseHosts, parseResolvConf } from './host-files.ts'

/** Returns all addresses of a name; rejects if there are none. */
export type Lookup = (host: string) => Promise<readonly Address[]>
/** Lookups are limited per owner, and lookups for one purpose do not wait for those for another. */
export type NameResolver = { createLookup(owner: string, purpose?: string): Lookup }

/** Overrides of the defaults, mainly for tests. */
export type NameResolverOptions = {
  hostsPath?: string
  resolvConfPath?: string
  /** Name servers as `address:port`, instead of the servers in resolv.conf. */
  servers?: readonly string[]
  /** Timeout of one lookup, including all search domains. */
  timeoutMs?: number
  positiveTtlMs?: number
  negativeTtlMs?: number
  maxCached?: number
}

const defaults = {
  hostsPath: '/etc/hosts',
  resolvConfPath: '/etc/resolv.conf',
  timeoutMs: 3_000,
  positiveTtlMs: 5_000,
  negativeTtlMs: 1_000,
  maxCached: 2_000,
}
const maxConcurrentLookups = 64
const limits = {
  capacity: maxConcurrentLookups,
  maxWaiting: 1_024,
  maxWaitMs: 3_000,
  overloadMessage: 'too many concurrent DNS lookups',
}
const loopbackAddresses = ['127.0.0.1', '::1']

/** Resolves names as this machine does: from its hosts file, then from its name servers and search domains. */
export function createNameResolver(options: NameResolverOptions = {}): NameResolver {
  const { hostsPath, resolvConfPath, timeoutMs, positiveTtlMs, negativeTtlMs, maxCached } = {
    ...defaults,
    ...options,
  }
  const [hosts, resolution] = [
    createCachedFile(hostsPath, parseHosts),
    createCachedFile(resolvConfPath, parseResolvConf),
  ]
  /** An empty list means that the name has no address. Server failures are not cached. */
  const cache = new LRUCache<string, readonly Address[]>({ max: maxCached })
  const shares = new Map<string, FairShare>()
  const getShare = (purpose: string): FairShare => {
    const share = shares.get(purpose) ?? createFairShare(limits)
    shares.set(purpose, share)
    return share
  }
  // The key includes the owner, so that a lookup does not wait in the queue of another owner.
  const singleFlight = createSingleFlight<readonly Address[]>()

  const findLocalAddresses = (name: string): readonly string[] | undefined =>
    hosts().get(name) ?? (/(?:^|\.)localhost$/.test(name) ? loopbackAddresses : undefined)
  const resolveAndCache = async (host: string): Promise<readonly Address[]> => {
    const { servers = resolution().servers } = options
    try {
      const addresses = await resolveName(host, { ...resolution(), servers }, timeoutMs)
      cache.set(host, addresses, { ttl: positiveTtlMs })
      return addresses
    } catch (error) {
      if ((error as { code?: string }).code === 'ENOTFOUND') cache.set(host, [], { ttl: negativeTtlMs })
      throw error
    }
  }
  const resolveWithinShare = async (purpose: string, owner: string, host: string) => {
    const lease = await getShare(purpose)
      .take([owner])
      .catch(() => {
        throw createLookupFailedError(host)
      })
    try {
      return await resolveAndCache(host)
    } finally {
      lease.release()
    }
  }
  return {
    createLookup:
      (owner, purpose = '') =>
      async (requestedHost) => {
        const host = requestedHost.toLowerCase()
        const localAddresses = findLocalAddresses(host.replace(/\.$/, ''))
        if (localAddresses !== undefined) return localAddresses.map(toAddress)
        const cachedAddresses = cache.get(host)
        if (cachedAddresses === undefined)
          return singleFlight(`${purpose} ${owner} ${host}`, () => resolveWithinShare(purpose, owner, host))
        if (cachedAddresses.length === 0) throw createNameNotFoundError(host)
        return cachedAddresses
      },
  }
}

const toAddress = (address: string): Address => ({ address, family: address.includes(':') ? 6 : 4 })
