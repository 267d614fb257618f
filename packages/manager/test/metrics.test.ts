// Tests that /metrics exposes every counter from the start, so that an alert detects its first increase, and that the
// number of series is bounded.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMetrics } from '../src/platform/metrics.ts'
import { type TestDatabase, createScratchDatabase } from './kit/databases.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'

let database: TestDatabase
const processes: ServiceProcess[] = []
beforeAll(async () => {
  database = await createScratchDatabase()
})
afterAll(async () => {
  for (const { child, exit } of processes) {
    child.kill('SIGKILL')
    await exit
  }
  await database.drop()
})

const page = readFileSync(new URL('../../../docs/reference/metrics.md', import.meta.url), 'utf8')
const exposedBy = async (service: ServiceProcess): Promise<string> =>
  (await fetch(`${service.healthUrl}/metrics`)).text()
const samplesOf = (text: string, name: string): string[] =>
  text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))

describe('right after the start', () => {
  let text: string
  beforeAll(async () => {
    processes.push(await startProcess(database.url, { SVC_AUDIT_CHECKPOINT_INTERVAL_MS: '3600000' }))
    text = await exposedBy(processes[0] as ServiceProcess)
  })

  test('every counter has a sample, and those of the service are 0', () => {
    const counters = [...text.matchAll(/^# TYPE (svc_\w+) counter$/gm)].map(([, name = '']) => name)
    expect(counters.length).toBeGreaterThan(10)
    for (const name of counters) {
      const samples = samplesOf(text, name)
      expect([name, samples.length]).not.toEqual([name, 0])
      const raised = samples.filter((line) => !line.endsWith(' 0') && !name.startsWith('svc_process_'))
      expect(raised).toEqual([])
    }
  })

  test('every counter that the metrics page names is there', () => {
    const named = new Set([...page.matchAll(/`(svc_\w+_(?:total|count))\b/g)].map(([, name = '']) => name))
    expect(named.size).toBeGreaterThan(10)
    for (const name of named) expect([name, samplesOf(text, name).length]).not.toEqual([name, 0])
  })

  test('the metrics page names every value of their labels', () => {
    for (const line of text.split('\n')) {
      const [, name, labels] = /^(svc_\w+_total)\{(.*)\} 0$/.exec(line) ?? []
      if (name === undefined || labels === undefined) continue
      const row = page.split('\n').find((one) => one.startsWith(`| \`${name}\``)) ?? ''
      for (const [, value = ''] of labels.matchAll(/"(.*?)"/g))
        expect([name, value, row.includes(`\`${value}\``)]).toEqual([name, value, true])
    }
  })

  test('calls of partners are 0 by each outcome', () => {
    expect(samplesOf(text, 'svc_esb_forward_duration_seconds_count').toSorted()).toEqual(
      ['abandoned', 'answered', 'failed', 'refused'].map(
        (outcome) => `svc_esb_forward_duration_seconds_count{outcome="${outcome}"} 0`,
      ),
    )
  })

  test('a process with the role jobs shows the age of its last checkpoint; another shows none', async () => {
    const name = 'svc_audit_checkpoint_age_seconds'
    const age = async () => samplesOf(await exposedBy(processes[0] as ServiceProcess), name).length
    await expect.poll(age).toBe(1)
    processes.push(await startProcess(database.url, { SVC_ROLES: 'api' }))
    expect(samplesOf(await exposedBy(processes[1] as ServiceProcess), name)).toEqual([])
  })
})

test('of many ids the first have series of their own, and the others share one', async () => {
  const { registry, counterById } = createMetrics('test')
  const count = counterById('svc_things_total', 'Things.', { label: 'thing', max: 2 })
  for (const id of ['a', 'b', 'c', 'd', 'c', 'b', null]) count(id)
  expect(samplesOf(await registry.metrics(), 'svc_things_total').toSorted()).toEqual([
    'svc_things_total{thing="a"} 1',
    'svc_things_total{thing="b"} 2',
    'svc_things_total{thing="other"} 4',
  ])
  registry.clear()
})
