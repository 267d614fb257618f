// Starts the service and the bare program, and sends load to both in alternating rounds.
import { spawn } from 'node:child_process'
import { mkdtempSync, openSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { testEnv } from '@manager/harness/test-env.ts'
import { type Load, cpuMs, median, quantile, runLoad } from './load.ts'

export type Side = { pid: number; url: string; stop: () => boolean }

export const say = (line: string): void => void process.stdout.write(`${line}\n`)

const path = { PATH: process.env['PATH'] }

/** Starts the service in its own process, as in production. */
export const startService = (databaseUrl: string, env: Record<string, string> = {}): Promise<Side> =>
  start('../src/main.ts', [], { ...path, ...testEnv(databaseUrl), ...servicePorts, ...env }, /"port":(\d+)/)
const servicePorts = { SVC_PORT: '0', SVC_HEALTH_PORT: '0', SVC_DATABASE_POOL_SIZE: '10' }

/** Starts a bare program, which must print the port that it listens on. */
export const startBare = (file: string, args: string[]): Promise<Side> => start(file, args, path, /^(\d+)\n/)

/** Starts a program and waits until it prints its port. The output goes to a file, as in production. */
async function start(file: string, args: string[], env: NodeJS.ProcessEnv, port: RegExp): Promise<Side> {
  const out = `${mkdtempSync(`${tmpdir()}/manager-bench-`)}/out.log`
  const path = new URL(file, import.meta.url).pathname
  const child = spawn(process.execPath, [path, ...args], {
    env,
    stdio: ['ignore', openSync(out, 'w'), 'inherit'],
  })
  // A failed benchmark must not leave processes running.
  process.once('exit', () => child.kill())
  for (let tries = 0; tries < 1_200; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    const [, found] = port.exec(readFileSync(out, 'utf8')) ?? []
    if (found !== undefined)
      return { pid: child.pid as number, url: `http://127.0.0.1:${found}`, stop: () => child.kill() }
  }
  throw new Error(`${file} did not start`)
}

export type Comparison = {
  name: string
  service: { side: Side; load: Load }
  bare: { side: Side; load: Load }
  connections: number
  rounds: number
  seconds: number
}

/** Sends load to both sides in alternating rounds and prints the ratio of their rates. The first round is a warm-up. */
export async function compare({ name, connections, rounds, seconds, ...sides }: Comparison): Promise<void> {
  const ratios: number[] = []
  const rate = { service: [] as number[], bare: [] as number[] }
  const cpu = { service: [] as number[], bare: [] as number[] }
  const p99 = { service: [] as number[], bare: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    for (const which of ['bare', 'service'] as const) {
      const { side, load } = sides[which]
      const before = cpuMs(side.pid)
      const result = await runLoad(load, connections, seconds)
      if (result.failed > 0) throw new Error(`${result.failed} of ${result.requests} requests failed`)
      if (round === 0) continue
      rate[which].push(result.perSecond)
      p99[which].push(result.p99Ms)
      cpu[which].push(((cpuMs(side.pid) - before) * 1_000) / result.requests)
    }
    if (round > 0) ratios.push((rate.service.at(-1) as number) / (rate.bare.at(-1) as number))
  }
  say(
    `${name} c=${String(connections).padEnd(3)} ratio=${median(ratios).toFixed(2)} ` +
      `(${quantile(ratios, 0.25).toFixed(2)}..${quantile(ratios, 0.75).toFixed(2)}) ` +
      `service=${median(rate.service).toFixed(0)}/s bare=${median(rate.bare).toFixed(0)}/s ` +
      `p99=${median(p99.service).toFixed(1)}/${median(p99.bare).toFixed(1)} ms ` +
      `cpu=${median(cpu.service).toFixed(0)}/${median(cpu.bare).toFixed(0)} us per request`,
  )
}
