// Operators keep checkpoints outside the database as logs or as copies from a bucket; this module reads both.
import { createReadStream, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Checkpoint } from '../platform/audit/checkpoint.ts'
import { counted } from './table.ts'
import type { Terminal } from './terminal.ts'

/** Returns the checkpoints in a file or folder, from log lines or plain objects; throws if there are none. */
export async function readCheckpointFiles(path: string, terminal: Terminal): Promise<Checkpoint[]> {
  const files = statSync(path).isDirectory()
    ? readdirSync(path)
        .toSorted()
        .map((name) => join(path, name))
        .filter((file) => statSync(file).isFile())
    : [path]
  const found: Checkpoint[] = []
  for (const file of files) found.push(...(await readOne(file, terminal)))
  if (found.length === 0) throw new Error(`${path} contains no checkpoint to compare`)
  return found
}

async function readOne(file: string, terminal: Terminal): Promise<Checkpoint[]> {
  const checkpoints: Checkpoint[] = []
  let broken = 0
  for await (const line of createInterface({ input: createReadStream(file) })) {
    if (!line.includes('"checkpoint"') && !line.includes('"prevHash"')) continue
    try {
      const object = JSON.parse(line) as { checkpoint?: unknown }
      const checkpoint = object.checkpoint ?? object
      if (isCheckpoint(checkpoint)) checkpoints.push(checkpoint)
    } catch {
      broken++
    }
  }
  if (broken > 0) terminal.warn(`Skipped ${counted(broken, 'unreadable line')} of ${file}.`)
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
