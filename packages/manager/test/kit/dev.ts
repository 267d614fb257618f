// Runs `npm run dev` and `npm run demo` with their own folder and ports.
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { freePort } from '@manager/harness/engines/postgres.ts'
import { compileCache } from '@manager/harness/process.ts'

const program = new URL('../../tools/dev.ts', import.meta.url).pathname
const root = new URL('../../../../', import.meta.url).pathname

type RunFile = { children: { pid: number }[] }

export type DevRun = {
  child: ChildProcess
  /** Returns all output so far. */
  output: () => string
  /** Resolves when the output contains the text; rejects if the process exits first. */
  wrote: (text: string) => Promise<void>
  /** The exit code or the signal name. */
  exit: Promise<number | string>
}

export type DevSandbox = {
  /** Parent folder of the run's files. */
  tmp: string
  url: string
  env: Record<string, string>
  start: (env?: Record<string, string>) => DevRun
  /** Starts `npm run dev` in a terminal, which closes when the child is killed. */
  startOnTerminal: () => DevRun
  /** Starts `npm run demo` in its own process group, because Ctrl-C sends its signal to the whole group. */
  startDemo: (env?: Record<string, string>) => DevRun
  /** Returns the ids of all running processes that were started in the folder. */
  processes: () => number[]
  /** Kills the processes that a failed test has left behind. */
  remove: () => void
}

export async function createDevSandbox(): Promise<DevSandbox> {
  const tmp = mkdtempSync(`${tmpdir()}/manager-dev-test-`)
  // PostgreSQL may run as a different user and must be able to read the folder.
  chmodSync(tmp, 0o755)
  const processes = createProcessFinder(tmp)
  const port = await freePort()
  const env = {
    PATH: process.env['PATH'] as string,
    HOME: process.env['HOME'] ?? '/',
    NODE_COMPILE_CACHE: compileCache,
    TMPDIR: tmp,
    SVC_PORT: String(port),
    SVC_HEALTH_PORT: String(await freePort()),
  }
  return {
    tmp,
    url: `http://127.0.0.1:${port}`,
    env,
    start: (more = {}) => watch(spawn(process.execPath, [program], { env: { ...env, ...more } })),
    startOnTerminal: () => {
      const command = `exec '${process.execPath}' '${program}'`
      return watch(spawn('script', ['-qfec', command, '/dev/null'], { env: { ...env, TERM: 'xterm' } }))
    },
    startDemo: (more = {}) => {
      const { SVC_PORT: DEMO_PORT, SVC_HEALTH_PORT: _, ...rest } = env
      const options = { cwd: root, detached: true, env: { ...rest, DEMO_PORT, ...more } }
      return watch(spawn('npm', ['run', 'demo'], options))
    },
    processes,
    remove: () => {
      for (const pid of processes()) process.kill(pid, 'SIGKILL')
      rmSync(tmp, { recursive: true, force: true })
    },
  }
}

function watch(child: ChildProcess): DevRun {
  let output = ''
  let listeners: (() => void)[] = []
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      for (const listener of listeners) listener()
    })
  const exit = new Promise<number | string>((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'gone')),
  )
  const wrote = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const check = (): void => void (output.includes(text) && resolve())
      listeners = [...listeners, check]
      check()
      void exit.then((code) => reject(new Error(`exited with ${code} before printing "${text}": ${output}`)))
    })
  return { child, output: () => output, wrote, exit }
}

/**
 * Finds every process whose environment or command line contains the folder. All descendants inherit the
 * folder. Redis overwrites its environment and command line, so its id is read from the file with the process
 * list.
 */
function createProcessFinder(tmp: string): () => number[] {
  const noted = new Set<number>()
  return () => {
    for (const file of globSync(`${tmp}/*/processes.json`))
      for (const { pid } of (JSON.parse(readFileSync(file, 'utf8')) as RunFile).children) noted.add(pid)
    return globSync('/proc/[0-9]*').flatMap((dir) => {
      const pid = Number(dir.slice('/proc/'.length))
      try {
        if (readFileSync(`${dir}/stat`, 'utf8').includes(') Z ')) return []
        const texts = ['environ', 'cmdline'].map((name) => readFileSync(`${dir}/${name}`, 'utf8'))
        return noted.has(pid) || texts.some((text) => text.includes(tmp)) ? [pid] : []
      } catch {
        // The process has exited or belongs to a different user.
        return []
      }
    })
  }
}
