// Reads the text of a document from a file or from standard input.
import path from 'node:path'
import { readBoundedText } from '../bounded-text.ts'
import { Failure } from '../failures.ts'
import { readNamedFile } from '../private-files.ts'
import type { Terminal } from '../terminal.ts'

/** `folder` is the folder that relative paths in the document start from. `name` is for error messages. */
export type Source = { name: string; text: string; folder: string }

// An export of a project with many objects is larger than the other files that svc reads.
const maxMegabytes = 32

/** Reads the file, or standard input if the file is `-`. Paths in standard input start from the working folder. */
export async function readSource({ stdin }: Pick<Terminal, 'stdin'>, file: string): Promise<Source> {
  const folder = path.dirname(file)
  if (file !== '-') return { name: file, text: await readNamedFile(file, maxMegabytes), folder }
  if (stdin.isTTY === true)
    throw new Failure('usage', 'The document is missing. Pipe it to standard input, or pass --file <file>.')
  return { name: 'standard input', text: await readBoundedText(stdin, 'The document', maxMegabytes), folder }
}
