// Runs the service and the `manager` command as separate processes, as in production.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'
import { processEnv, testEnv } from './test-env.ts'

const main = new URL('../../manager/src/main.ts', import.meta.url).pathname
const managerCommand = new URL('../../manager/src/commands/manager.ts', import.meta.url).pathname

export type ServiceProcess = {
  child: ChildProcess
  url: string
  healthUrl: string
  /** All lines that the process wrote to standard output. */
  lines: string[]
  /** Resolves with the exit code or the signal name after all output has been read. */
  exit: Promise<number | string>
}

/** The folder of Node's compile cache. It is in the clone, because other users can write to the temporary folder. */
export const compileCache = new URL('../../../node_modules/.cache/manager', import.meta.url).pathname

/** Builds the environment of a child. Only PATH is inherited, so that no other variable affects the child. */
const childEnv = (env: Record<string, string | undefined>): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  // Without the cache, short commands would spend most of their run time on stripping types.
  NODE_COMPILE_CACHE: compileCache,
  ...env,
})

/**
 * Starts a process on free ports and waits until it is ready. `shell` wraps the command line that bash executes, for
 * example to set a limit first or to redirect the output.
 */
export async function startProcess(
  databaseUrl: string,
  env: Record<string, string | undefined> = {},
  { program = main, shell }: { program?: string; shell?: (run: string) => string } = {},
): Promise<ServiceProcess> {
  const [command, args] =
    shell === undefined
      ? [process.execPath, [program]]
      : ['bash', ['--norc', '-c', shell(`exec '${process.execPath}' '${program}'`)]]
  const child = spawn(command, args, {
    env: childEnv({ ...testEnv(databaseUrl), ...processEnv(), SVC_PORT: '0', SVC_HEALTH_PORT: '0', ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const exit = new Promise<number | string>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'gone')),
  )
  const ready = new Promise<{ port: number; health_port: number }>((resolve, reject) => {
    let rest = ''
    child.stdout.on('data', (chunk: Buffer) => {
      const parts = (rest + chunk.toString()).split('\n')
      rest = parts.pop() ?? ''
      lines.push(...parts)
      const line = parts.find((part) => part.includes('"manager is ready"'))
      if (line !== undefined) resolve(JSON.parse(line) as { port: number; health_port: number })
    })
    void exit.then((code) => reject(new Error(`the service exited with ${code}: ${errors}`)))
  })
  const { port, health_port } = await ready
  return { child, url: `http://127.0.0.1:${port}`, healthUrl: `http://127.0.0.1:${health_port}`, lines, exit }
}

export type CommandResult = { code: number; stdout: string; stderr: string }

/** Runs one `manager` command as a process. A non-zero exit code does not throw. */
export async function runManagerProcess(
  args: string[],
  env: Record<string, string | undefined>,
  program = managerCommand,
): Promise<CommandResult> {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, ...args], {
      env: childEnv(env),
    })
    return { code: 0, stdout, stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, stdout, stderr }
  }
}

/** Runs the shell command `before`, starts the service and waits until it exits by itself. */
export async function runUntilExit(
  env: Record<string, string | undefined>,
  before = 'true',
): Promise<CommandResult> {
  try {
    const run = `${before}; exec '${process.execPath}' '${main}'`
    const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-c', run], {
      env: childEnv(env),
      timeout: 100_000,
    })
    return { code: 0, stdout, stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, stdout, stderr }
  }
}
