// Grafana dashboards as JSON, made of short descriptions (dashboards.ts): queries, variables and places are the same everywhere.

type Query = { expr: string; legend: string }
export type Panel = {
  title: string
  description: string
  /** As Grafana names it: https://grafana.com/docs/grafana/latest/panels-visualizations/configure-standard-options/ */
  unit: 'reqps' | 'ops' | 's' | 'bytes' | 'short' | 'percentunit' | 'bool_yes_no' | 'none'
  queries: Query[]
  kind?: 'timeseries' | 'stat'
  /** Why it may be without data while all is well. */
  mayBeEmpty?: string
}
export type Dashboard = {
  name: string
  title: string
  description: string
  rows: { title: string; panels: Panel[] }[]
}

const own = 'job="$job", instance=~"$instance"'
const selector = (metric: string, match: string): string =>
  `${metric}{${own}${match === '' ? '' : `, ${match}`}}`
const windowed = (metric: string, match: string): string => `${selector(metric, match)}[$__rate_interval]`
const legendOf = (by: string, legend?: string): string =>
  legend ?? by.replaceAll(/\w+/g, '{{$&}}').replaceAll(', ', ' ')
type Options = { by?: string; match?: string; legend?: string }

/** How often something happens each second. */
export const perSecond = (metric: string, { by = 'instance', match = '', legend }: Options = {}): Query => ({
  expr: `sum by (${by}) (rate(${windowed(metric, match)}))`,
  legend: legendOf(by, legend),
})
/** How often it happened within the time that one point stands for: for what is rare. */
export const count = (metric: string, { by = 'instance', match = '', legend }: Options = {}): Query => ({
  expr: `sum by (${by}) (increase(${windowed(metric, match)}))`,
  legend: legendOf(by, legend),
})
/** What a gauge shows; `how` joins what processes show. */
export const gauge = (
  metric: string,
  { by = 'instance', match = '', legend, how = 'max' }: Options & { how?: 'max' | 'min' | 'sum' } = {},
): Query => ({
  expr: by === '' ? `${how}(${selector(metric, match)})` : `${how} by (${by}) (${selector(metric, match)})`,
  legend: legendOf(by, legend),
})
const quantile = (q: number, metric: string, by: string, match: string): string =>
  `histogram_quantile(${q}, sum by (${['le', by].filter(Boolean).join(', ')}) (rate(${windowed(`${metric}_bucket`, match)})))`
/** Percentiles of a histogram, over all processes. */
export const percentiles = (metric: string, match = ''): Query[] =>
  [0.5, 0.95, 0.99].map((q) => ({ expr: quantile(q, metric, '', match), legend: `p${q * 100}` }))
/** One percentile for each value of a label. */
export const percentileBy = (q: number, metric: string, by: string, match = ''): Query => ({
  expr: quantile(q, metric, by, match),
  legend: legendOf(by),
})
/** The mean of a histogram. */
export const mean = (metric: string, legend: string): Query => ({
  expr: `sum(rate(${windowed(`${metric}_sum`, '')})) / sum(rate(${windowed(`${metric}_count`, '')}))`,
  legend,
})
/** What share of all has this label, or of those that match `of`; no line while nothing happens at all. */
export const share = (
  metric: string,
  match: string,
  { by = '', of = '', legend }: { by?: string; of?: string; legend?: string } = {},
): Query => {
  const sum = by === '' ? 'sum' : `sum by (${by}) `
  const part = [of, match].filter(Boolean).join(', ')
  const rates = (all: string): string => `${sum}(rate(${windowed(metric, all)}))`
  // Where a series begins with its first request, there would be no line before the first of its kind.
  return {
    expr: `(${rates(part)} or ${rates(of)} * 0) / (${rates(of)} > 0)`,
    legend: legendOf(by, legend),
  }
}

const datasource = { type: 'prometheus', uid: '${datasource}' }
const [panelWidth, panelHeight, perLine] = [8, 8, 3]

function variable(name: string, label: string, isMulti: boolean, match = '') {
  const query = `label_values(svc_build_info${match}, ${name})`
  return {
    name,
    label,
    type: 'query',
    datasource,
    definition: query,
    query: { query, refId: `variable-${name}` },
    refresh: 2,
    sort: 1,
    multi: isMulti,
    includeAll: isMulti,
    ...(isMulti ? { allValue: '.+', current: { text: 'All', value: '$__all' } } : {}),
  }
}

const optionsOf = {
  timeseries: {
    legend: { displayMode: 'table', placement: 'bottom', calcs: ['lastNotNull', 'max'], showLegend: true },
    tooltip: { mode: 'multi', sort: 'desc' },
  },
  stat: { reduceOptions: { calcs: ['lastNotNull'] }, textMode: 'auto', colorMode: 'none' },
}
const customOf = {
  timeseries: { custom: { drawStyle: 'line', lineWidth: 1, fillOpacity: 10, showPoints: 'never' }, min: 0 },
  stat: {},
}

function panelJson(
  { title, description, unit, queries, kind = 'timeseries' }: Panel,
  id: number,
  y: number,
  x: number,
) {
  return {
    id,
    type: kind,
    title,
    description,
    datasource,
    gridPos: { h: panelHeight, w: panelWidth, x, y },
    fieldConfig: { defaults: { unit, ...customOf[kind] }, overrides: [] },
    options: optionsOf[kind],
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCodePoint(65 + index),
      datasource,
      expr,
      legendFormat: legend,
      range: true,
    })),
  }
}

/** The dashboard as Grafana imports it. */
export function dashboardJson({ name, title, description, rows }: Dashboard): string {
  let [id, y] = [0, 0]
  const panels: unknown[] = []
  for (const row of rows) {
    const place = { h: 1, w: panelWidth * perLine, x: 0, y: y++ }
    panels.push({ id: ++id, type: 'row', title: row.title, collapsed: false, gridPos: place, panels: [] })
    for (const [index, panel] of row.panels.entries()) {
      const line = Math.floor(index / perLine)
      panels.push(panelJson(panel, ++id, y + line * panelHeight, (index % perLine) * panelWidth))
    }
    y += Math.ceil(row.panels.length / perLine) * panelHeight
  }
  return JSON.stringify({
    uid: `manager-${name}`,
    title,
    description,
    tags: ['manager'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    time: { from: 'now-3h', to: 'now' },
    refresh: '30s',
    timezone: 'utc',
    links: [{ type: 'dashboards', title: 'Manager', tags: ['manager'], asDropdown: true, keepTime: true }],
    annotations: { list: [] },
    templating: {
      list: [
        { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus', refresh: 1 },
        variable('job', 'Job', false),
        variable('instance', 'Process', true, '{job="$job"}'),
      ],
    },
    panels,
  })
}
