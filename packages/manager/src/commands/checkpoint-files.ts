// Reads checkpoints that operators keep outside the database: service logs, or copies from a bucket.
import { createReadStream, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Checkpoint } from '../platform/audit/checkpoint.ts'
import { formatQuantity } from './table.ts'
import type { Terminal } from './terminal.ts'

/** Returns the checkpoints in a file or folder, from log lines or plain objects. Throws if there are none. */
export async function readCheckpointFiles(path: string, terminal: Terminal): Promise<Checkpoint[]> {
  const files = statSync(path).isDirectory()
    ? readdirSync(path)
        .toSorted()
        .map((name) => join(path, name))
        .filter((file) => statSync(file).isFile())
    : [path]
  const checkpoints: Checkpoint[] = []
  for (const file of files) checkpoints.push(...(await readCheckpointFile(file, terminal)))
  if (checkpoints.length === 0) throw new Error(`${path} contains no checkpoint to compare`)
  return checkpoints
}

async function readCheckpointFile(file: string, terminal: Terminal): Promise<Checkpoint[]> {
  const checkpoints: Checkpoint[] = []
  let unreadableLines = 0
  for await (const line of createInterface({ input: createReadStream(file) })) {
    if (!line.includes('"checkpoint"') && !line.includes('"prevHash"')) continue
    try {
      const object = JSON.parse(line) as { checkpoint?: unknown }
      const checkpoint = object.checkpoint ?? object
      if (isCheckpoint(checkpoint)) checkpoints.push(checkpoint)
    } catch {
      unreadableLines++
    }
  }
  if (unreadableLines > 0)
    terminal.warn(`Skipped ${formatQuantity(unreadableLines, 'unreadable line')} of ${file}.`)
  return checkpoints
}

function isCheckpoint(value: unknown): value is Checkpoint {
  const { seq, heads, hash, signature } = value as Partial<Checkpoint>
  return (
    typeof seq === 'number' &&
    Array.isArray(heads) &&
    typeof hash === 'string' &&
    typeof signature === 'string'
  )
}
