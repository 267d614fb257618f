// Downloads an export of the audit trail piece by piece, so that its progress can be shown.
import { useEffect, useRef, useState } from 'react'
import { type Failure, describeFailure } from '../../api/failures.ts'
import { TooLargeError, readLargeBody } from '../../api/large-body.ts'
import { downloadFile } from '../../app/csv.ts'
import { type TrailRequest, readSignedCount } from './trail-request.ts'

export type TrailDownload =
  | { readonly state: 'idle' }
  | { readonly state: 'running'; readonly rows: number; readonly bytes: number }
  | { readonly state: 'done'; readonly rows: number; readonly bytes: number; readonly isSigned: boolean }
  | { readonly state: 'incomplete' }
  | { readonly state: 'tooLarge' }
  | { readonly state: 'failed'; readonly failure: Failure }

// The tab holds the whole file until it is saved. The browser itself can download larger files, without progress.
const maxBytes = 512_000_000
const stepMs = 100
/** More than the signed last line. */
const endBytes = 100_000
const lineFeed = 10

function countLines(piece: Uint8Array): number {
  let count = 0
  for (let at = piece.indexOf(lineFeed); at >= 0; at = piece.indexOf(lineFeed, at + 1)) count++
  return count
}

type File = { readonly parts: Uint8Array<ArrayBuffer>[]; lines: number; bytes: number }

async function readFile(
  { path }: TrailRequest,
  signal: AbortSignal,
  onProgress: (file: File) => void,
): Promise<File> {
  const file: File = { parts: [], lines: 0, bytes: 0 }
  let shownAt = 0
  await readLargeBody({
    path,
    signal,
    maxBytes,
    onPiece: (piece, bytes) => {
      file.parts.push(piece)
      file.lines += countLines(piece)
      file.bytes = bytes
      if (performance.now() - shownAt < stepMs) return
      shownAt = performance.now()
      onProgress(file)
    },
  })
  return file
}

/** Saves a complete file. An NDJSON file is complete only if its last line is signed. */
async function saveFile({ parts, lines, bytes }: File, request: TrailRequest): Promise<TrailDownload> {
  const blob = new Blob(parts)
  const isSigned = request.format === 'ndjson'
  const rows = isSigned ? readSignedCount(await blob.slice(-endBytes).text()) : Math.max(0, lines - 1)
  if (rows === null) return { state: 'incomplete' }
  const address = URL.createObjectURL(blob)
  downloadFile(address, request.fileName)
  URL.revokeObjectURL(address)
  return { state: 'done', rows, bytes, isSigned }
}

export function useTrailDownload(): {
  readonly download: TrailDownload
  readonly start: (request: TrailRequest) => void
  readonly stop: () => void
} {
  const [download, setDownload] = useState<TrailDownload>({ state: 'idle' })
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const run = async (request: TrailRequest): Promise<void> => {
    running.current?.abort()
    const { signal } = (running.current = new AbortController())
    setDownload({ state: 'running', rows: 0, bytes: 0 })
    try {
      const file = await readFile(request, signal, ({ lines, bytes }) =>
        setDownload({ state: 'running', rows: lines, bytes }),
      )
      const saved = await saveFile(file, request)
      if (!signal.aborted) setDownload(saved)
    } catch (error) {
      if (signal.aborted) return
      setDownload(
        error instanceof TooLargeError
          ? { state: 'tooLarge' }
          : { state: 'failed', failure: describeFailure(error) },
      )
    }
  }
  return {
    download,
    start: (request) => void run(request),
    stop: () => {
      running.current?.abort()
      setDownload({ state: 'idle' })
    },
  }
}
