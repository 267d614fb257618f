// Names of upstreams. Not Node's own lookup: that runs in two threads of the process, so one project's name server that
// is silent would block all others. Here no thread waits, each project has a share of the lookups that run at once,
// answers are cached for some seconds, and each lookup has its own timeout.
import { LRUCache } from 'lru-cache'
import { type FairShare, createFairShare } from '../throttle/fair-share.ts'
import { createSingleFlight } from '../cache/single-flight.ts'
import { type Address, askFor, noAnswer, unknownName } from './dns-question.ts'
import { createFileView, parseHosts, parseResolvConf } from './host-files.ts'

/** All addresses of a name; it rejects when there are none. */
export type Lookup = (host: string) => Promise<readonly Address[]>
/** Lookups that count for an owner; what is looked up for one purpose does not wait for the others. */
export type Names = { lookupFor(owner: string, purpose?: string): Lookup }

export type NamesOptions = {
  hostsPath?: string
  resolvConfPath?: string
  /** `address:port`; instead of those in the file. */
  servers?: readonly string[]
  /** One lookup, with all names that are tried. */
  timeoutMs?: number
  knownMs?: number
  unknownMs?: number
  maxKept?: number
}

const defaults = {
  hostsPath: '/etc/hosts',
  resolvConfPath: '/etc/resolv.conf',
  timeoutMs: 3_000,
  knownMs: 5_000,
  unknownMs: 1_000,
  maxKept: 2_000,
}
const atOnce = 64
const limits = {
  capacity: atOnce,
  maxWaiting: 1_024,
  maxWaitMs: 3_000,
  full: 'too many names are being looked up',
}
const loopback = ['127.0.0.1', '::1']

/** Names as this machine knows them: its hosts file, then its name servers with its search domains. */
export function createNames(options: NamesOptions = {}): Names {
  const { hostsPath, resolvConfPath, timeoutMs, knownMs, unknownMs, maxKept } = { ...defaults, ...options }
  const [hosts, resolution] = [
    createFileView(hostsPath, parseHosts),
    createFileView(resolvConfPath, parseResolvConf),
  ]
  /** Empty for a name that is known to have none. Failures of a server are not cached. */
  const kept = new LRUCache<string, readonly Address[]>({ max: maxKept })
  const shares = new Map<string, FairShare>()
  const shareOf = (purpose: string): FairShare => {
    const share = shares.get(purpose) ?? createFairShare(limits)
    shares.set(purpose, share)
    return share
  }
  // By owner: a lookup does not wait for the turn of another owner.
  const singleFlight = createSingleFlight<readonly Address[]>()

  const local = (name: string): readonly string[] | undefined =>
    hosts().get(name) ?? (/(?:^|\.)localhost$/.test(name) ? loopback : undefined)
  const ask = async (host: string): Promise<readonly Address[]> => {
    const { servers = resolution().servers } = options
    try {
      const found = await askFor(host, { ...resolution(), servers }, timeoutMs)
      kept.set(host, found, { ttl: knownMs })
      return found
    } catch (error) {
      if ((error as { code?: string }).code === 'ENOTFOUND') kept.set(host, [], { ttl: unknownMs })
      throw error
    }
  }
  const askInTurn = async (purpose: string, owner: string, host: string): Promise<readonly Address[]> => {
    const lease = await shareOf(purpose)
      .take([owner])
      .catch(() => {
        throw noAnswer(host)
      })
    try {
      return await ask(host)
    } finally {
      lease.release()
    }
  }
  return {
    lookupFor:
      (owner, purpose = '') =>
      async (given) => {
        const host = given.toLowerCase()
        const own = local(host.replace(/\.$/, ''))
        if (own !== undefined) return own.map(asAddress)
        const known = kept.get(host)
        if (known === undefined)
          return singleFlight(`${purpose} ${owner} ${host}`, () => askInTurn(purpose, owner, host))
        if (known.length === 0) throw unknownName(host)
        return known
      },
  }
}

const asAddress = (address: string): Address => ({ address, family: address.includes(':') ? 6 : 4 })
