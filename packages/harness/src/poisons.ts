// Templates and bodies that are designed to block the service. Each input is within the size limits of the
// service.

export type Poison = {
  name: string
  endpoint: Record<string, unknown>
  body: string
  /** Allowed response statuses. If a call waits for a thread, it may also receive 503. */
  statuses: readonly number[]
  /** Number of requests to send. */
  times: number
}

const mebibyte = 1_048_576
const asJson = '{{toJson .Data}}'
const template = (transformationTemplate: string) => ({ transformationTemplate })
const xml = { ...template(asJson), inputMessageType: 'XML' }
const failed = [500]
const refused = [400]
// On a slow machine, rendering may exceed its time limit, and the response is then 500.
const served = [200, 500]

/** Small inputs are rendered on the main thread, within a small budget. */
const small: Poison[] = [
  {
    name: 'lists in lists in lists',
    endpoint: template('{{range .Data}}{{range $.Data}}{{range $.Data}}x{{end}}{{end}}{{end}}'),
    body: JSON.stringify(Array(200).fill(1)),
    statuses: failed,
    times: 5,
  },
  {
    name: 'a template that calls itself',
    endpoint: template('{{define "t"}}{{template "t" .}}{{end}}{{template "t" .}}'),
    body: '{}',
    statuses: failed,
    times: 10,
  },
  {
    name: 'templates that call each other twice',
    endpoint: template(
      Array.from({ length: 30 }, (_, i) => {
        const next = `{{template "t${i + 1}" .}}`
        return `{{define "t${i}"}}${next}${next}{{end}}`
      }).join('') + '{{define "t30"}}x{{end}}{{template "t0" .}}',
    ),
    body: '{}',
    statuses: failed,
    times: 10,
  },
  {
    name: 'deep JSON',
    endpoint: template(asJson),
    body: '['.repeat(8_000) + ']'.repeat(8_000),
    statuses: failed,
    times: 10,
  },
  {
    name: 'many keys',
    endpoint: template(asJson),
    body: `{${Array.from({ length: 1_400 }, (_, i) => `"k${i}":${i}`).join(',')}}`,
    statuses: served,
    times: 10,
  },
  {
    name: 'many texts with everything to escape',
    endpoint: template('{{range .Data.list}}{{$x := jsonEscape $.Data.text}}{{end}}'),
    body: JSON.stringify({ list: Array(400).fill(1), text: '<\u2028'.repeat(3_000) }),
    statuses: served,
    times: 5,
  },
  {
    name: 'many elements',
    endpoint: xml,
    body: `<r>${'<a/>'.repeat(4_000)}</r>`,
    statuses: served,
    times: 10,
  },
  {
    name: 'many instructions',
    endpoint: xml,
    body: `${'<?a?>'.repeat(3_200)}<r/>`,
    statuses: served,
    times: 10,
  },
  {
    name: 'laughs',
    endpoint: xml,
    body: `<!DOCTYPE l [<!ENTITY a "ha">${Array.from({ length: 9 }, (_, i) => `<!ENTITY a${i} "${`&a${i - 1};`.repeat(10)}">`).join('')}]><l>&a8;</l>`,
    statuses: refused,
    times: 10,
  },
]

const large: Poison[] = [
  {
    name: 'a text that doubles',
    endpoint: template(`{{$x := toJson .Data.q}}${'{{$x = toJson $x}}'.repeat(40)}{{$x}}`),
    body: '{"q":"\\""}',
    statuses: failed,
    times: 1,
  },
  {
    name: '10 MiB of [',
    endpoint: template(asJson),
    body: '['.repeat(10 * mebibyte),
    statuses: refused,
    times: 1,
  },
  {
    name: '10 MiB of {"a":',
    endpoint: template(asJson),
    body: '{"a":'.repeat(2 * mebibyte),
    statuses: refused,
    times: 1,
  },
  {
    name: '10 MiB of JSON',
    endpoint: template('{{.Data.a}}'),
    body: JSON.stringify({ a: 1, list: Array(100).fill('<'.repeat(100_000)) }),
    statuses: served,
    times: 1,
  },
  {
    name: '10 MiB of a text in upper case',
    endpoint: template('{{toUpper .Data.Body}}'),
    body: 'x'.repeat(10 * mebibyte),
    statuses: served,
    times: 1,
  },
  {
    name: '10 MiB of elements',
    endpoint: xml,
    body: '<a>'.repeat(3 * mebibyte),
    statuses: refused,
    times: 1,
  },
  {
    name: '10 MiB of attributes',
    endpoint: xml,
    body: `<r ${Array.from({ length: 700_000 }, (_, i) => `a${i}="1"`).join(' ')}/>`,
    statuses: refused,
    times: 1,
  },
]

/** The logged part of these bodies is redacted on the main thread, within a budget. */
const logged: Poison[] = Object.entries({
  'a tag of blanks': `<a${' '.repeat(65_000)}<pin`,
  'marks on a letter': `{"pin${'\u0300'.repeat(16_000)}${'\u0316'.repeat(16_000)}":1}`,
  'texts within texts': '[<?='.repeat(16_384),
  'parts within parts': Array.from({ length: 4_000 }, (_, i) => `--${i}\ncontent-\n\n`).join(''),
}).map(([name, body]) => ({ name, endpoint: { logLevel: 'FULL' }, body, statuses: [200], times: 3 }))

export const poisons: readonly Poison[] = [...small, ...large, ...logged]
