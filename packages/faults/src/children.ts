// Starts child processes that do not outlive the harness. When the harness exits or is killed, a guard in a
// separate session kills the remaining processes.
import { type ChildProcess, spawn } from 'node:child_process'
import { openSync, closeSync } from 'node:fs'

export type Child = {
  pid: number
  process: ChildProcess
  /** Resolves with the exit code, or the name of the signal. */
  exit: Promise<number | string>
}
type Start = { program?: string; args: string[]; env: Record<string, string>; logFile: string }

const path = (name: string): string => new URL(name, import.meta.url).pathname
let guard: ChildProcess | null = null

function notifyGuard(line: string): void {
  if (guard === null) {
    guard = spawn(process.execPath, [path('guard.ts')], {
      detached: true,
      stdio: ['pipe', 'ignore', 'inherit'],
    })
    // The guard outlives the harness. The harness must not wait for it.
    guard.unref()
    ;(guard.stdin as unknown as { unref(): void }).unref()
    guard.stdin?.on('error', () => undefined)
  }
  guard.stdin?.write(`${line}\n`)
}

/** Starts a program, by default Node, and appends its output to the file. */
export function startChild({ program = process.execPath, args, env, logFile }: Start): Child {
  const log = openSync(logFile, 'a')
  const child = spawn(program, args, {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  const pid = child.pid as number
  notifyGuard(`+${pid}`)
  const exit = new Promise<number | string>((resolve) =>
    child.once('exit', (code, signal) => {
      notifyGuard(`-${pid}`)
      resolve(code ?? signal ?? 'gone')
    }),
  )
  return { pid, process: child, exit }
}

/** Sends SIGTERM, and SIGKILL after the grace period. A frozen process is resumed first. */
export async function endChild(child: Child, graceMs = 10_000): Promise<void> {
  child.process.kill('SIGCONT')
  child.process.kill('SIGTERM')
  const timer = setTimeout(() => child.process.kill('SIGKILL'), graceMs)
  await child.exit
  clearTimeout(timer)
}

/** Checks the condition every 200 ms until it is true. Throws after `ms`. */
export async function until(what: string, ms: number, holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + ms; ;) {
    if (await holds().catch(() => false)) return
    if (Date.now() > end) throw new Error(`timed out after ${ms / 1_000} s waiting for ${what}`)
    await pause(200)
  }
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
