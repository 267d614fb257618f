// A PostgreSQL that hangs: all of its processes are stopped, so that connections are accepted by the kernel and nothing answers.
import { readFileSync } from 'node:fs'
import { childrenOf } from '../cpu.ts'

/** Sends this to the server of this folder and to all of its processes; nothing when it does not run. */
export function signalPostgres(dir: string, signal: 'SIGSTOP' | 'SIGCONT'): void {
  const pid = pidOf(dir)
  if (pid === null) return
  // It starts the others: stopped first, and woken last, it does not start any meanwhile.
  if (signal === 'SIGSTOP') send(pid, signal)
  for (const child of childrenOf(pid)) send(child, signal)
  if (signal === 'SIGCONT') send(pid, signal)
}

function pidOf(dir: string): number | null {
  try {
    const pid = Number(readFileSync(`${dir}/data/postmaster.pid`, 'utf8').split('\n')[0])
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    return command.split('\0').includes(`${dir}/data`) ? pid : null
  } catch {
    return null
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has just ended.
  }
}
