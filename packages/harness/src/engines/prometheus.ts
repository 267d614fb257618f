// Runs a private Prometheus with the configuration that deploy/observability/ provides for operators.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parse, stringify } from 'yaml'
import { ensurePrometheus } from './install.ts'
import { freePort } from './postgres.ts'

const deployed = new URL('../../../../deploy/observability/', import.meta.url).pathname

type Configuration = {
  global: { scrape_interval: string; evaluation_interval: string }
  rule_files: string[]
  scrape_configs: { static_configs: { targets: string[] }[] }[]
}
/** The values of a series over time. */
export type Series = { metric: Record<string, string>; values: [at: number, value: string][] }
type Answer<Data> = { status: 'success'; data: Data } | { status: 'error'; error: string }
export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>

function configurationFor(targets: string[], interval: string): string {
  const configuration = parse(readFileSync(`${deployed}prometheus.yaml`, 'utf8')) as Configuration
  configuration.global = { scrape_interval: interval, evaluation_interval: interval }
  configuration.rule_files = configuration.rule_files.map((file) => deployed + file)
  for (const { static_configs } of configuration.scrape_configs)
    for (const one of static_configs) one.targets = targets
  return stringify(configuration)
}

/** Starts Prometheus on a free loopback port and waits until it is ready. It scrapes the targets at this interval. */
export async function startPrometheus(targets: string[], interval = '1s') {
  const folder = mkdtempSync(path.join(tmpdir(), 'prometheus-'))
  const file = path.join(folder, 'prometheus.yaml')
  writeFileSync(file, configurationFor(targets, interval))
  const url = `http://127.0.0.1:${await freePort()}`
  const args = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=${new URL(url).host}`,
    '--log.level=error',
  ]
  const child = spawn(ensurePrometheus().prometheus, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const isReady = async (): Promise<boolean> =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  for (let tries = 0; !(await isReady()); tries++) {
    if (tries > 600 || child.exitCode !== null) throw new Error(`prometheus did not start: ${stderr}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const ask = async <Data>(path: string, query: Record<string, string> = {}): Promise<Data> => {
    const response = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(query)}`)
    const answer = (await response.json()) as Answer<Data>
    if (answer.status === 'error') throw new Error(`${answer.error}: ${query['query']}`)
    return answer.data
  }
  const alertsIn = async (wanted: 'firing' | 'pending'): Promise<string[]> => {
    const { alerts } = await ask<{ alerts: { state: string; labels: { alertname: string } }[] }>('alerts')
    return alerts.filter(({ state }) => state === wanted).map(({ labels }) => labels.alertname)
  }
  return {
    /** Returns the series that a dashboard panel would show for the last `seconds`. */
    range: async (query: string, seconds: number): Promise<Series[]> => {
      const end = Date.now() / 1_000
      const times = { start: String(end - seconds), end: String(end), step: '2' }
      return (await ask<{ result: Series[] }>('query_range', { query, ...times })).result
    },
    /** Returns the names of the firing alerts. */
    firing: () => alertsIn('firing'),
    /** Returns the names of the pending alerts, which fire if their condition persists. */
    pending: () => alertsIn('pending'),
    /** Returns the health of every rule that Prometheus evaluates. */
    rules: async (): Promise<{ name: string; health: string; lastError?: string }[]> => {
      const { groups } = await ask<{ groups: { rules: { name: string; health: string }[] }[] }>('rules')
      return groups.flatMap(({ rules }) => rules)
    },
    close: async (): Promise<void> => {
      child.kill()
      await gone
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
