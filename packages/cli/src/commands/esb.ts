// esb: what an endpoint would make of a body, without a call.
import { graphql } from '@manager/client'
import { previewESBTransformDocument } from '@manager/client/documents'
import type { Command } from 'commander'
import { boundedText } from '../bounded-text.ts'
import { type Context, addCommand, does } from '../context.ts'
import { Failure } from '../failures.ts'
import { remark, serialize } from '../output.ts'
import { type ParentOptions, addParentOptions } from '../parents.ts'
import { printableLines } from '../printable.ts'
import { readNamedFile } from '../private-files.ts'
import { findNamed } from '../resource-commands.ts'
import { endpoints } from '../resources/endpoints.ts'
import type { World } from '../world.ts'

type Options = ParentOptions & { body?: string; template?: string }

/** Adds the commands about the ESB. */
export function addEsbCommands(program: Command, world: World): void {
  const group = addCommand(program, {
    name: 'esb',
    description: 'The ESB: try the template of an endpoint',
    examples: ['esb preview orders -p shop -a web --body order.json'],
  })
  const command = addCommand(group, {
    name: 'preview',
    description:
      'Renders a body as the gateway would, with the template of the endpoint or with another one. Nothing is forwarded or saved.',
    examples: [
      'esb preview orders -p shop -a web --body order.json',
      'esb preview orders -p shop -a web --template new.tmpl < order.json',
    ],
  })
    .argument('<endpoint>', 'its name, path or id')
    .option('--body <file>', 'the body that a caller would send; standard input if not said')
    .option('--template <file>', 'a template to try instead of the saved one')
  addParentOptions(command, 'app')
  does<Options>(command, world, preview)
}

async function preview(context: Context, [named = '']: string[], options: Options): Promise<void> {
  const { world, format, signal } = context
  const body = options.body === undefined ? await readInput(world) : await readNamedFile(options.body)
  const template = options.template === undefined ? undefined : await readNamedFile(options.template)
  const { connection, row } = await findNamed(context, endpoints, named, options)
  const input = { body, ...(template === undefined ? {} : { transformationTemplate: template }) }
  const variables = { endpointId: String(row['id']), input }
  const answer = await graphql(connection, previewESBTransformDocument, variables, { signal })
  const { output, contentType, warnings } = answer.previewESBTransform
  if (format !== 'table') return void world.stdout.write(serialize(answer.previewESBTransform, format))
  remark(world, `content type: ${contentType}`)
  for (const { message, line, column } of warnings)
    remark(world, `warning: ${message}${line === null ? '' : ` (line ${line}, column ${column ?? 1})`}`)
  // A file or another program gets the very output.
  world.stdout.write(world.stdout.isTTY === true ? `${printableLines(output)}\n` : output)
}

async function readInput({ stdin }: World): Promise<string> {
  if (stdin.isTTY === true)
    throw new Failure('usage', 'Which body? Add --body <file>, or send it to standard input.')
  return boundedText(stdin, 'The body')
}
