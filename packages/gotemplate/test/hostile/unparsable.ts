// Large strings that are not templates.
import { repeat } from './kit.ts'

export const unparsable: [string, string][] = [
  ['64 KiB of braces', repeat('{', 65_536)],
  ['64 KiB of opened actions', repeat('{{', 32_768)],
  ['30,000 nested parentheses', `{{${repeat('(', 30_000)}1${repeat(')', 30_000)}}}`],
  ['30,000 parentheses without an end', `{{${repeat('(', 30_000)}`],
  ['10,000 nested blocks', `${repeat('{{if 1}}', 10_000)}${repeat('{{end}}', 10_000)}`],
  ['10,000 nested ranges without an end', repeat('{{range .}}', 10_000)],
  ['10,000 nested blocks with names', repeat('{{block "a" .}}', 10_000)],
  ['a million nodes', repeat('{{1}}', 150_000)],
  ['a template of two million characters', repeat('x', 2_000_000)],
  ['a long chain of fields', `{{${repeat('.a', 200_000)}}}`],
  ['a long pipeline', `{{1${repeat('|print', 120_000)}}}`],
  ['a long name', `{{${repeat('a', 500_000)}}}`],
  ['a long number', `{{${repeat('9', 500_000)}}}`],
  ['a long float', `{{1${repeat('0', 500_000)}e${repeat('9', 10_000)}}}`],
  ['a long comment', `{{/*${repeat('*', 500_000)}`],
  ['a long string without an end', `{{"${repeat('\\', 500_000)}`],
]
