// esb: renders a body with the template of an endpoint, without calling the endpoint.
import { graphql } from '@manager/client'
import { previewESBTransformDocument } from '@manager/client/documents'
import type { Command } from 'commander'
import { readBoundedText } from '../bounded-text.ts'
import { type Context, addCommand, setAction } from '../context.ts'
import { Failure } from '../failures.ts'
import { printRemark, serialize } from '../output.ts'
import { type ParentOptions, addParentOptions } from '../parents.ts'
import { escapeLines } from '../printable.ts'
import { readNamedFile } from '../private-files.ts'
import { findNamedRow } from '../resource-commands.ts'
import { endpoints } from '../resources/endpoints.ts'
import type { Terminal } from '../terminal.ts'

type Options = ParentOptions & { body?: string; template?: string }

export function addEsbCommands(program: Command, terminal: Terminal): void {
  const group = addCommand(program, {
    name: 'esb',
    description: 'The ESB: test the template of an endpoint',
    examples: ['esb preview orders -p shop -a web --body order.json'],
  })
  const command = addCommand(group, {
    name: 'preview',
    description:
      'Render a body as the gateway would, with the template of the endpoint or with another template. Nothing is forwarded or saved.',
    examples: [
      'esb preview orders -p shop -a web --body order.json',
      'esb preview orders -p shop -a web --template new.tmpl < order.json',
    ],
  })
    .argument('<endpoint>', 'the endpoint, by name, path or id')
    .option('--body <file>', 'the body that a caller would send (default: standard input)')
    .option('--template <file>', 'a template to test instead of the saved template')
  addParentOptions(command, 'app')
  setAction<Options>(command, terminal, preview)
}

async function preview(context: Context, [endpointKey = '']: string[], options: Options): Promise<void> {
  const { terminal, format, signal } = context
  const body = options.body === undefined ? await readInput(terminal) : await readNamedFile(options.body)
  const template = options.template === undefined ? undefined : await readNamedFile(options.template)
  const { connection, row } = await findNamedRow(context, endpoints, endpointKey, options)
  const input = { body, ...(template === undefined ? {} : { transformationTemplate: template }) }
  const variables = { endpointId: String(row['id']), input }
  const result = await graphql(connection, previewESBTransformDocument, variables, { signal })
  const { output, contentType, warnings } = result.previewESBTransform
  if (format !== 'table') return void terminal.stdout.write(serialize(result.previewESBTransform, format))
  printRemark(terminal, `content type: ${contentType}`)
  for (const { message, line, column } of warnings)
    printRemark(
      terminal,
      `warning: ${message}${line === null ? '' : ` (line ${line}, column ${column ?? 1})`}`,
    )
  // Files and other programs get the exact output, without escapes or an additional newline.
  terminal.stdout.write(terminal.stdout.isTTY === true ? `${escapeLines(output)}\n` : output)
}

async function readInput({ stdin }: Terminal): Promise<string> {
  if (stdin.isTTY === true)
    throw new Failure('usage', 'The body is missing. Pass --body <file>, or pipe the body to standard input.')
  return readBoundedText(stdin, 'The body')
}
