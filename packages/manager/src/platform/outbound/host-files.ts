// Reads the name resolution files of this machine: /etc/hosts, and /etc/resolv.conf with the name servers and search
// domains. The files are read synchronously, because lookups must not depend on the thread pool, where Node reads files
// asynchronously. The files are local, small and rarely change.
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { isIP } from 'node:net'

/** The resolver settings of /etc/resolv.conf. */
export type Resolution = {
  servers: readonly string[]
  /** Search domains that are appended to a name. */
  search: readonly string[]
  /** A name with at least this many dots is first tried without a search domain. */
  ndots: number
}
/** Addresses by lower-case name. */
export type Hosts = ReadonlyMap<string, readonly string[]>

const recheckIntervalMs = 1_000
const maxFileBytes = 1_048_576
const [maxServers, maxSearch, maxNdots] = [3, 16, 15]

/** Returns a function that returns the parsed file, at most 1 s old. An unreadable file counts as empty. */
export function createCachedFile<T>(path: string, parse: (text: string) => T): () => T {
  let [lastFingerprint, checkedAt, content] = ['', -Infinity, parse('')]
  return () => {
    const now = performance.now()
    if (now - checkedAt < recheckIntervalMs) return content
    checkedAt = now
    const fingerprint = computeFingerprint(path)
    if (fingerprint !== lastFingerprint) [lastFingerprint, content] = [fingerprint, parse(readText(path))]
    return content
  }
}

function computeFingerprint(path: string): string {
  try {
    const { ino, size, mtimeMs } = statSync(path)
    return `${ino} ${size} ${mtimeMs}`
  } catch {
    return ''
  }
}

function readText(path: string): string {
  try {
    const file = openSync(path, 'r')
    try {
      const bytes = Buffer.alloc(Math.min(fstatSync(file).size, maxFileBytes))
      return bytes.toString('utf8', 0, readSync(file, bytes))
    } finally {
      closeSync(file)
    }
  } catch {
    return ''
  }
}

/** Excludes addresses with a zone, which c-ares does not accept. */
const isPlainAddress = (text: string): boolean => isIP(text) !== 0 && !text.includes('%')
const splitFields = (line: string): string[] => line.split(/\s+/).filter(Boolean)

/** Parses a hosts file. */
export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = splitFields(line.replace(/#.*/, ''))
    if (isIP(address) === 0) continue
    for (const name of names.map((rawName) => rawName.toLowerCase()))
      hosts.set(name, [...new Set([...(hosts.get(name) ?? []), address])])
  }
  return hosts
}

/** Parses a file in the format of resolv.conf(5); the last `search` or `domain` line applies. */
export function parseResolvConf(text: string): Resolution {
  const servers: string[] = []
  let [search, ndots]: [string[], number] = [[], 1]
  for (const line of text.split('\n')) {
    const [keyword = '', ...values] = splitFields(line.replace(/^\s*[#;].*/, ''))
    if (keyword === 'nameserver' && isPlainAddress(values[0] ?? '')) servers.push(values[0] as string)
    if (keyword === 'search' || keyword === 'domain')
      search = values.slice(0, maxSearch).map((domain) => domain.toLowerCase().replace(/\.$/, ''))
    if (keyword !== 'options') continue
    const option = values.findLast((value) => /^ndots:\d+$/.test(value))
    if (option !== undefined) ndots = Math.min(Number(option.slice(6)), maxNdots)
  }
  return { servers: servers.slice(0, maxServers), search: search.filter((domain) => domain !== ''), ndots }
}
