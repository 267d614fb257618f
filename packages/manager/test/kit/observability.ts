// Reads deploy/observability/: alert rules, their tests, and dashboards.
import { globSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'

export const observability = new URL('../../../../deploy/observability/', import.meta.url).pathname

export type Alert = {
  alert: string
  expr: string
  for?: string
  labels: { severity: string }
  annotations: { summary: string; runbook_url: string }
}
export type AlertCase = {
  name: string
  input_series: { series: string; values: string }[]
  alert_rule_test: { alertname: string; exp_alerts: unknown[] }[]
}
type GridPosition = { h: number; w: number; x: number; y: number }
export type PanelJson = {
  id: number
  type: string
  title: string
  description?: string
  gridPos: GridPosition
  datasource?: { type: string; uid: string }
  fieldConfig?: { defaults: { unit?: string } }
  targets?: { refId: string; expr: string; legendFormat: string; datasource: { uid: string } }[]
}
export type DashboardJson = {
  uid: string
  title: string
  schemaVersion: number
  templating: { list: { name: string; type: string; query: unknown; definition?: string }[] }
  panels: PanelJson[]
}

const read = (file: string): string => readFileSync(observability + file, 'utf8')

export const readAlerts = (): Alert[] =>
  (parse(read('alerts.yaml')) as { groups: { rules: Alert[] }[] }).groups.flatMap(({ rules }) => rules)

export const readAlertCases = (): AlertCase[] =>
  (parse(read('alerts.test.yaml')) as { tests: AlertCase[] }).tests

/** Returns every dashboard with its file name. */
export const readDashboards = (): [file: string, dashboard: DashboardJson][] =>
  globSync('dashboards/*.json', { cwd: observability })
    .toSorted()
    .map((file) => [file, JSON.parse(read(file)) as DashboardJson])

/** Returns every panel query with its file and panel. */
export const panelQueries = (): { where: string; panel: string; expr: string }[] =>
  readDashboards().flatMap(([file, { panels }]) =>
    panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr, refId }) => ({ where: `${file}: ${title} ${refId}`, panel: title, expr })),
    ),
  )
