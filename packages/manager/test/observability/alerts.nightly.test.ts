// Tests the alert rules: promtool checks each rule and tests it with a healthy and a failing case, and each rule has a
// runbook entry.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { ensurePrometheus } from '@manager/harness/engines/install.ts'
import { type AlertCase, observability, readAlertCases, readAlerts } from '../kit/observability.ts'
import { metricsOf } from '../kit/promql.ts'

const alerts = readAlerts()
const cases = readAlertCases()
const promtool = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)(ensurePrometheus().promtool, args, { cwd: observability })).stdout
const areas = ['service', 'security', 'audit-and-bundles', 'gateway', 'triggers', 'notifications', 'database']
/** The runbook pages, in the order of the rules. */
const pages = areas.map((area) => {
  const path = `guides/operators/alerts-${area}.md`
  return { path, text: readFileSync(new URL(`../../../../docs/${path}`, import.meta.url), 'utf8') }
})
const runbook = pages.map(({ text }) => text).join('\n')

test('promtool accepts the rules and the configuration', async () => {
  expect(await promtool('check', 'rules', 'alerts.yaml')).toContain(`${alerts.length} rules found`)
  expect(await promtool('check', 'config', 'prometheus.yaml')).toContain('SUCCESS')
})

test('every alert fires on a made series and is silent on a healthy one', async () => {
  expect(await promtool('test', 'rules', 'alerts.test.yaml')).toContain('SUCCESS')
})

/** Returns the test cases that are missing for each alert. */
function missingCases(of: readonly AlertCase[]): string[] {
  return alerts.flatMap(({ alert, expr }) => {
    const own = of.filter(({ alert_rule_test }) =>
      alert_rule_test.some(({ alertname }) => alertname === alert),
    )
    const firing = own.filter(({ alert_rule_test }) =>
      alert_rule_test.every(({ exp_alerts }) => exp_alerts.length > 0),
    )
    const silent = own.filter(({ alert_rule_test }) =>
      alert_rule_test.every(({ exp_alerts }) => exp_alerts.length === 0),
    )
    // A rule without any series never fires, so the healthy case must contain the metrics that the rule reads.
    const shown = (one: AlertCase): Set<string> =>
      new Set(one.input_series.map(({ series }) => series.slice(0, series.indexOf('{'))))
    const looksAt = metricsOf(expr).map(({ name }) => name)
    const isShown = silent.some((one) => looksAt.every((name) => shown(one).has(name)))
    return [
      ...(firing.length === 0 ? [`${alert}: fires`] : []),
      ...(isShown ? [] : [`${alert}: is silent, with ${looksAt.join(', ')}`]),
    ]
  })
}

test('every alert has both cases, and the healthy one holds every metric of the rule', () => {
  expect(alerts.length).toBeGreaterThan(40)
  expect(missingCases(cases)).toEqual([])
})

test('a case that is missing is found', () => {
  const [first] = alerts
  const without = cases.filter(({ name }) => name !== `${first?.alert} fires`)
  expect(missingCases(without)).toEqual([`${first?.alert}: fires`])
  const empty = cases.map((one) =>
    one.name === `${first?.alert} is silent` ? { ...one, input_series: [] } : one,
  )
  expect(missingCases(empty)).toEqual([`${first?.alert}: is silent, with up`])
})

test('every alert says how urgent it is, and its runbook entry says what it means, what to look at and what to do', () => {
  for (const { alert, labels, annotations } of alerts) {
    expect(['page', 'ticket']).toContain(labels.severity)
    expect(annotations.summary).toMatch(/^[A-Z1].*\.$/)
    const page = pages.find(({ text }) => text.includes(`\n## ${alert}\n`))
    const anchor = `${page?.path ?? ''}#${alert.toLowerCase()}`
    expect(annotations.runbook_url).toBe(`https://manager.example.com/docs/${anchor}`)
    const [, entry = ''] = page?.text.split(`\n## ${alert}\n`) ?? []
    const [own = ''] = entry.split('\n#')
    for (const part of ['- Means: ', '- Look at: ', '- Do: '])
      expect([alert, own]).toEqual([alert, expect.stringContaining(part)])
  }
})

test('every entry of the runbook is of an alert, and names only alerts that exist', () => {
  const names = new Set(alerts.map(({ alert }) => alert))
  expect([...runbook.matchAll(/^## (Manager\w+)$/gm)].map(([, name = '']) => name)).toEqual([...names])
  const named = new Set([...runbook.matchAll(/\bManager[A-Z]\w+/g)].map(([name]) => name))
  expect([...named].filter((name) => !names.has(name))).toEqual([])
})
