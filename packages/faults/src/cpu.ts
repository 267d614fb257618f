// Reads the CPU time and memory of processes from /proc.
import { globSync, readFileSync } from 'node:fs'

// USER_HZ is 100 on every Linux that Node runs on.
const msPerTick = 10

type Stat = { parent: number; ownMs: number; endedChildrenMs: number }

function readStat(pid: number): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The process name in parentheses may contain any character.
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

/** Returns the CPU time of a process in milliseconds. */
export const cpuOf = (pid: number): number => readStat(pid)?.ownMs ?? 0

/** Returns the running children of a process. */
export const childrenOf = (pid: number): number[] =>
  globSync('/proc/[0-9]*')
    .map((path) => Number(path.slice('/proc/'.length)))
    .filter((one) => readStat(one)?.parent === pid)

/**
 * Returns the CPU time of a process and all its children in milliseconds, including children that have
 * exited.
 */
export function cpuOfProcessTree(pid: number): number {
  const own = readStat(pid)
  if (own === null) return 0
  return childrenOf(pid).reduce((sum, child) => sum + cpuOf(child), own.ownMs + own.endedChildrenMs)
}

/** Returns how many milliseconds the main thread of a process was runnable but waited for a core. */
export const mainWaitedMs = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6

/** Returns the resident memory of a process in megabytes. */
export function rssOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes ?? 0) / 1_024
}

/**
 * Returns the number of connections that the kernel has dropped because a server did not accept them quickly enough.
 */
export function listenOverflows(): number {
  const [names = '', values = ''] = readFileSync('/proc/net/netstat', 'utf8').split('\n')
  return Number(values.split(' ')[names.split(' ').indexOf('ListenOverflows')] ?? 0)
}

/**
 * Returns how many milliseconds processes were runnable while the hypervisor gave the cores to other machines, summed
 * over all cores.
 */
export function stolenMs(): number {
  const [, ...counts] = (readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '').split(/ +/)
  return Number(counts[7] ?? 0) * msPerTick
}
