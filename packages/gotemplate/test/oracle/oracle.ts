// Go's own text/template as a process beside the tests: built once, asked line by line.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'

/** A template with all that its rendering depends on. */
export interface Case {
  readonly template: string
  readonly data?: unknown
  /** Whether Go's own functions exist; they do unless this is false. */
  readonly builtins?: boolean
  /** Whether the seven functions of a host exist. */
  readonly functions?: boolean
  /** Whether a missing key is an error. */
  readonly missingKey?: 'error'
  /** A time to put under a key of the data. */
  readonly time?: { readonly key: string; readonly ms: number }
}

/** What rendering comes to. */
export interface Outcome {
  readonly output: string
  /** Where it failed, absent when it did not. */
  readonly phase?: 'parse' | 'exec'
  readonly error?: string
}

const source = new URL('main.go', import.meta.url).pathname

/** The oracle's program, built if need be; null where there is no Go. */
export function oracleProgram(): string | null {
  const hash = createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 16)
  const directory = `${tmpdir()}/gotemplate-oracle`
  const program = `${directory}/oracle-${hash}`
  if (existsSync(program)) return program
  mkdirSync(directory, { recursive: true })
  const fresh = `${program}.${process.pid}`
  try {
    execFileSync('go', ['build', '-o', fresh, source], {
      env: { ...process.env, GOPROXY: 'off' },
      stdio: 'pipe',
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  renameSync(fresh, program)
  return program
}

/** A running oracle. Requests are answered in their order, so many may be under way. */
export class Oracle {
  readonly #process: ChildProcess
  readonly #waiting: ((outcome: Outcome) => void)[] = []

  constructor(program: string) {
    this.#process = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] })
    const lines = createInterface({ input: this.#process.stdout as NodeJS.ReadableStream })
    lines.on('line', (line) => {
      const { output, phase, error } = JSON.parse(line) as Outcome
      this.#waiting.shift()?.({ output, ...(phase === undefined ? {} : { phase, error: error ?? '' }) })
    })
  }

  /** What Go makes of the case. */
  ask(request: Case): Promise<Outcome> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#process.stdin?.write(`${JSON.stringify({ id: 0, ...request })}\n`)
    })
  }

  /** Ends the process. */
  async close(): Promise<void> {
    this.#process.stdin?.end()
    await once(this.#process, 'exit')
  }
}
