// Tests the JSON of the dashboards that Grafana reads.
import { describe, expect, test } from 'vitest'
import { type PanelJson, readAlerts, readDashboards } from '../kit/observability.ts'

const all = readDashboards()
const units = ['reqps', 'ops', 's', 'bytes', 'short', 'percentunit', 'bool_yes_no', 'none']
const overlap = ({ gridPos: a }: PanelJson, { gridPos: b }: PanelJson): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h

test('there is one for each audience, with ids of their own', () => {
  const audiences = ['api', 'comms', 'database', 'gateway', 'triggers']
  expect(all.map(([file]) => file)).toEqual(audiences.map((name) => `dashboards/${name}.json`))
  expect(all.map(([, { uid }]) => uid)).toEqual(audiences.map((name) => `manager-${name}`))
})

describe.each(all)('%s', (_file, { schemaVersion, templating, panels }) => {
  const shown = panels.filter(({ type }) => type !== 'row')

  test('is of a version that Grafana reads, and its data source is a variable', () => {
    expect(schemaVersion).toBeGreaterThanOrEqual(36)
    expect(templating.list.map(({ name, type }) => [name, type])).toEqual([
      ['datasource', 'datasource'],
      ['job', 'query'],
      ['instance', 'query'],
    ])
    const sources = shown.flatMap(({ datasource, targets = [] }) => [
      datasource?.uid,
      ...targets.map((target) => target.datasource.uid),
    ])
    expect(new Set(sources)).toEqual(new Set(['${datasource}']))
  })

  test('every panel has an id, a title, a description, a unit and queries with legends', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    expect(new Set(shown.map(({ title }) => title)).size).toBe(shown.length)
    for (const { title, description = '', fieldConfig, targets = [] } of shown) {
      expect([title, description]).toEqual([title, expect.stringMatching(/^[A-Z0-9].*\.$/)])
      expect(units).toContain(fieldConfig?.defaults.unit)
      expect(targets.length).toBeGreaterThan(0)
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length)
      for (const { expr, legendFormat } of targets) {
        expect(legendFormat).not.toBe('')
        // Without this selector, choosing a job or a process in the dashboard would have no effect.
        expect(expr.split('{job="$job", instance=~"$instance"').length).toBeGreaterThan(1)
      }
    }
  })

  test('panels lie within 24 columns, and none on another', () => {
    for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
    const pairs = panels.flatMap((one, index) =>
      panels.slice(index + 1).map((other) => [one, other] as const),
    )
    expect(
      pairs.filter(([one, other]) => overlap(one, other)).map(([one, other]) => [one.title, other.title]),
    ).toEqual([])
  })

  test('the alerts that its descriptions name exist', () => {
    const names = readAlerts().map(({ alert }) => alert)
    for (const { description = '' } of shown)
      for (const [name] of description.matchAll(/\bManager[A-Z]\w+/g)) expect(names).toContain(name)
  })
})

test('panels on one another are found', () => {
  const [, { panels }] = all[0] as (typeof all)[number]
  const [first, second] = panels.filter(({ type }) => type !== 'row') as [PanelJson, PanelJson]
  expect(overlap(first, second)).toBe(false)
  expect(overlap(first, { ...second, gridPos: { ...second.gridPos, x: first.gridPos.x + 1 } })).toBe(true)
})
