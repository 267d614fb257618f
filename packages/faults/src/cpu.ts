// What processes spend of the machine's time and memory, read from /proc.
import { globSync, readFileSync } from 'node:fs'

// USER_HZ is 100 on every Linux that Node runs on.
const msPerTick = 10

type Stat = { parent: number; ownMs: number; endedChildrenMs: number }

function readStat(pid: number): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name, in parentheses, may hold anything.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const ticks = (first: number): number => ((fields[first] ?? 0) + (fields[first + 1] ?? 0)) * msPerTick
    return { parent: fields[1] ?? 0, ownMs: ticks(11), endedChildrenMs: ticks(13) }
  } catch {
    return null
  }
}

/** CPU milliseconds of a process. */
export const cpuOf = (pid: number): number => readStat(pid)?.ownMs ?? 0

/** The processes that this one has started and that live. */
export const childrenOf = (pid: number): number[] =>
  globSync('/proc/[0-9]*')
    .map((path) => Number(path.slice('/proc/'.length)))
    .filter((one) => readStat(one)?.parent === pid)

/** CPU milliseconds of a process and of all its children, also of those that have ended. */
export function cpuOfFamily(pid: number): number {
  const own = readStat(pid)
  if (own === null) return 0
  return childrenOf(pid).reduce((sum, child) => sum + cpuOf(child), own.ownMs + own.endedChildrenMs)
}

/** Milliseconds that the main thread of a process could have run, and waited for a core. */
export const mainWaitedMs = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6

/** Megabytes of memory that a process holds. */
export function rssOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes ?? 0) / 1_024
}

/** Connections that the kernel dropped since it started because a server did not accept them fast enough. */
export function listenOverflows(): number {
  const [names = '', values = ''] = readFileSync('/proc/net/netstat', 'utf8').split('\n')
  return Number(values.split(' ')[names.split(' ').indexOf('ListenOverflows')] ?? 0)
}

/** Milliseconds that the machine's host gave to others while processes here wanted to run, summed over all cores. */
export function stolenMs(): number {
  const [, ...counts] = (readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '').split(/ +/)
  return Number(counts[7] ?? 0) * msPerTick
}
