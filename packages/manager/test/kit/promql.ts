// Which metrics a PromQL expression names, with the labels that it expects of each. Knows what dashboards and alerts use of
// the language; Prometheus itself checks their grammar.

export type Matcher = { label: string; operator: string; value: string }
export type NamedMetric = {
  name: string
  matchers: Matcher[]
  /** Labels that an aggregation around it goes by. */
  by: string[]
}

const token = /"(?:[^"\\]|\\.)*"|[a-zA-Z_$][\w:]*|\d[\w.]*|=~|!~|!=|[<>=]=|\S/g
const words = new Set(['and', 'or', 'unless', 'bool', 'on', 'ignoring', 'group_left', 'group_right'])
const aggregations = new Set(['sum', 'min', 'max', 'avg', 'count'])

/** Throws on what it does not know, so that nothing is left out quietly. */
export function metricsOf(expression: string): NamedMetric[] {
  const tokens = [...expression.matchAll(token)].map(([text]) => text)
  const found: NamedMetric[] = []
  const around: string[][] = []
  let [at, pending]: [number, string[]] = [0, []]
  /** What stands until this closing mark, without commas. */
  const until = (end: string): string[] => {
    const from = at
    while (tokens[at] !== end) if (++at > tokens.length) throw new Error(`no ${end} in ${expression}`)
    return tokens.slice(from, at++).filter((text) => text !== ',')
  }
  while (at < tokens.length) {
    const text = tokens[at++] as string
    if (text === 'by') {
      at++
      pending = until(')')
    } else if (text === 'without' || text === 'offset')
      throw new Error(`${text} is not known here: ${expression}`)
    else if (text === '(') {
      around.push(pending)
      pending = []
    } else if (text === ')') around.pop()
    else if (text === '[') until(']')
    else if (/^[a-z_]/i.test(text) && !words.has(text) && tokens[at] !== '(' && !aggregations.has(text)) {
      const inside = tokens[at] === '{' ? (at++, until('}')) : []
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

/** Samples of a page of metrics: for each name the labels of each sample; a histogram has three names. */
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
