// What this machine knows of names without a request: /etc/hosts, and in /etc/resolv.conf which servers to ask and how.
// Files are read on the main thread: they are local, small and rarely change, and otherwise Node reads files in
// threads, which lookups must not depend on.
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { isIP } from 'node:net'

export type Resolution = {
  servers: readonly string[]
  /** Domains that are tried behind a name. */
  search: readonly string[]
  /** From this number of dots on, a name is tried as it is first. */
  ndots: number
}
export type Hosts = ReadonlyMap<string, readonly string[]>

const recheckMs = 1_000
const maxFileBytes = 1_048_576
const [maxServers, maxSearch, maxNdots] = [3, 16, 15]

/** Returns a function that gives what is in the file now, or was a second ago; a file that cannot be read is empty. */
export function createFileView<T>(path: string, parse: (text: string) => T): () => T {
  let [seen, checkedAt, view] = ['', -Infinity, parse('')]
  return () => {
    const now = performance.now()
    if (now - checkedAt < recheckMs) return view
    checkedAt = now
    const state = stateOf(path)
    if (state !== seen) [seen, view] = [state, parse(read(path))]
    return view
  }
}

function stateOf(path: string): string {
  try {
    const { ino, size, mtimeMs } = statSync(path)
    return `${ino} ${size} ${mtimeMs}`
  } catch {
    return ''
  }
}

function read(path: string): string {
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

/** One with a zone cannot be handed to c-ares. */
const isPlainAddress = (text: string): boolean => isIP(text) !== 0 && !text.includes('%')
const fieldsOf = (line: string): string[] => line.split(/\s+/).filter(Boolean)

/** Names in lower case, each with its addresses. */
export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = fieldsOf(line.replace(/#.*/, ''))
    if (isIP(address) === 0) continue
    for (const name of names.map((given) => given.toLowerCase()))
      hosts.set(name, [...new Set([...(hosts.get(name) ?? []), address])])
  }
  return hosts
}

/** As resolv.conf(5) says; of `search` and `domain` the last one counts. */
export function parseResolvConf(text: string): Resolution {
  const servers: string[] = []
  let [search, ndots]: [string[], number] = [[], 1]
  for (const line of text.split('\n')) {
    const [keyword = '', ...values] = fieldsOf(line.replace(/^\s*[#;].*/, ''))
    if (keyword === 'nameserver' && isPlainAddress(values[0] ?? '')) servers.push(values[0] as string)
    if (keyword === 'search' || keyword === 'domain')
      search = values.slice(0, maxSearch).map((domain) => domain.toLowerCase().replace(/\.$/, ''))
    if (keyword !== 'options') continue
    const option = values.findLast((value) => /^ndots:\d+$/.test(value))
    if (option !== undefined) ndots = Math.min(Number(option.slice(6)), maxNdots)
  }
  return { servers: servers.slice(0, maxServers), search: search.filter((domain) => domain !== ''), ndots }
}
