// Freezes PostgreSQL: all of its processes are stopped, so the kernel accepts connections but no process responds.
import { readFileSync } from 'node:fs'
import { childrenOf } from '../cpu.ts'

/** Signals the server in this folder and all of its processes. Does nothing if the server is not running. */
export function signalPostgres(dir: string, signal: 'SIGSTOP' | 'SIGCONT'): void {
  const pid = pidOf(dir)
  if (pid === null) return
  // The postmaster starts the other processes. It is stopped first and resumed last, so that it starts no processes
  // during the loop.
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
    // The process has just exited.
  }
}
