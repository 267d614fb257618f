// Lists the metrics in a PromQL expression with the labels that it expects. Supports only the syntax that the
// dashboards and alerts use; Prometheus checks the grammar.

export type Matcher = { label: string; operator: string; value: string }
export type NamedMetric = {
  name: string
  matchers: Matcher[]
  /** Labels of the enclosing `by` clauses. */
  by: string[]
}

const token = /"(?:[^"\\]|\\.)*"|[a-zA-Z_$][\w:]*|\d[\w.]*|=~|!~|!=|[<>=]=|\S/g
const words = new Set(['and', 'or', 'unless', 'bool', 'on', 'ignoring', 'group_left', 'group_right'])
const aggregations = new Set(['sum', 'min', 'max', 'avg', 'count'])

/** Returns the metrics of an expression. Throws on unknown syntax, so that no metric is skipped silently. */
export function metricsOf(expression: string): NamedMetric[] {
  const tokens = [...expression.matchAll(token)].map(([text]) => text)
  const found: NamedMetric[] = []
  const around: string[][] = []
  let [at, pending]: [number, string[]] = [0, []]
  /** Returns the tokens before this closing token, without commas. */
  const readUntil = (end: string): string[] => {
    const from = at
    while (tokens[at] !== end) if (++at > tokens.length) throw new Error(`no ${end} in ${expression}`)
    return tokens.slice(from, at++).filter((text) => text !== ',')
  }
  while (at < tokens.length) {
    const text = tokens[at++] as string
    if (text === 'by') {
      at++
      pending = readUntil(')')
    } else if (text === 'without' || text === 'offset')
      throw new Error(`${text} is not supported: ${expression}`)
    else if (text === '(') {
      around.push(pending)
      pending = []
    } else if (text === ')') around.pop()
    else if (text === '[') readUntil(']')
    else if (/^[a-z_]/i.test(text) && !words.has(text) && tokens[at] !== '(' && !aggregations.has(text)) {
      const inside = tokens[at] === '{' ? (at++, readUntil('}')) : []
      found.push({ name: text, matchers: matchersOf(inside), by: around.flat() })
    }
  }
  return found
}

function matchersOf(inside: string[]): Matcher[] {
  const matchers: Matcher[] = []
  for (let at = 0; at < inside.length; at += 3) {
    const [label = '', operator = '', value = ''] = inside.slice(at, at + 3)
    matchers.push({ label, operator, value: JSON.parse(value) as string })
  }
  return matchers
}

/** Parses a metrics page. Returns the labels of each sample by metric name. A histogram has three names. */
export function samplesOf(page: string): Map<string, Record<string, string>[]> {
  const samples = new Map<string, Record<string, string>[]>()
  for (const line of page.split('\n')) {
    const [, typed, kind] = /^# TYPE (\S+) (\w+)$/.exec(line) ?? []
    if (typed !== undefined)
      for (const suffix of kind === 'histogram' ? ['_bucket', '_sum', '_count'] : [''])
        samples.set(typed + suffix, [])
    const [, name, labels = ''] = /^([a-z]\w*)(?:\{(.*)\})? \S+$/.exec(line) ?? []
    if (name === undefined) continue
    const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', value = '']) => [label, value])
    samples.get(name)?.push(Object.fromEntries(pairs) as Record<string, string>)
  }
  return samples
}
