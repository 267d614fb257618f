// Processes that the harness starts. None outlives it: a guard of its own session ends what is left when the harness
// ends, in whatever way.
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

function tellGuard(line: string): void {
  if (guard === null) {
    guard = spawn(process.execPath, [path('guard.ts')], {
      detached: true,
      stdio: ['pipe', 'ignore', 'inherit'],
    })
    // The guard outlives the harness, which must not wait for it.
    guard.unref()
    ;(guard.stdin as unknown as { unref(): void }).unref()
    guard.stdin?.on('error', () => undefined)
  }
  guard.stdin?.write(`${line}\n`)
}

/** Starts a program, one of Node unless another is named; what it writes goes to the file. */
export function startChild({ program = process.execPath, args, env, logFile }: Start): Child {
  const log = openSync(logFile, 'a')
  const child = spawn(program, args, {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  const pid = child.pid as number
  tellGuard(`+${pid}`)
  const exit = new Promise<number | string>((resolve) =>
    child.once('exit', (code, signal) => {
      tellGuard(`-${pid}`)
      resolve(code ?? signal ?? 'gone')
    }),
  )
  return { pid, process: child, exit }
}

/** Asks it to end, and ends it when it takes longer than this. */
export async function endChild(child: Child, graceMs = 10_000): Promise<void> {
  child.process.kill('SIGCONT')
  child.process.kill('SIGTERM')
  const timer = setTimeout(() => child.process.kill('SIGKILL'), graceMs)
  await child.exit
  clearTimeout(timer)
}

/** Tries until it holds, every 200 ms; throws when it does not within this time. */
export async function until(what: string, ms: number, holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + ms; ;) {
    if (await holds().catch(() => false)) return
    if (Date.now() > end) throw new Error(`${what} took longer than ${ms / 1_000} s`)
    await pause(200)
  }
}

/** Waits. */
export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
