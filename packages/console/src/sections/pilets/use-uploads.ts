// Uploads the files of the list one after another, until they are finished or the page is closed.
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useReducer, useRef, useState } from 'react'
import { useProject } from '../../app/project.tsx'
import { type PackageManifest, readPackage } from './package-archive.ts'
import { sendPilet } from './send-pilet.ts'
import { type Upload, changeUploads, findNext, isActive, maxFileBytes, maxFiles } from './upload-list.ts'

export type Uploads = {
  readonly items: readonly Upload[]
  readonly isActive: boolean
  /** Whether uploaded versions are enabled immediately. */
  readonly isEnabling: boolean
  readonly setEnabling: (isEnabling: boolean) => void
  readonly add: (files: readonly File[]) => void
  readonly edit: (id: number, manifest: PackageManifest) => void
  readonly start: () => void
  readonly retry: (id: number) => void
  readonly cancel: (id: number) => void
  readonly remove: (id: number) => void
}

export function useUploads(): Uploads {
  const { id: projectId } = useProject()
  const client = useQueryClient()
  const [items, dispatch] = useReducer(changeUploads, [])
  const [isEnabling, setEnabling] = useState(true)
  const lastId = useRef(0)
  const running = useRef(new Map<number, AbortController>())
  const next = findNext(items)

  useEffect(() => {
    const controllers = running.current
    return () => {
      for (const controller of controllers.values()) controller.abort()
    }
  }, [])

  const run = useCallback(
    async ({ id, file, manifest }: Upload) => {
      if (running.current.has(id)) return
      const controller = new AbortController()
      running.current.set(id, controller)
      const report = (sentBytes: number, totalBytes: number): void =>
        dispatch({ kind: 'state', id, state: { kind: 'sending', sentBytes, totalBytes } })
      report(0, file.size)
      const outcome = await sendPilet({
        projectId,
        file,
        manifest,
        isEnabled: isEnabling,
        signal: controller.signal,
        onProgress: report,
      })
      running.current.delete(id)
      dispatch({ kind: 'state', id, state: outcome })
      if (outcome.kind === 'done') void client.invalidateQueries()
    },
    [client, projectId, isEnabling],
  )
  useEffect(() => {
    if (next !== undefined) void run(next)
  }, [next, run])

  const add = useCallback((files: readonly File[]): void => {
    // The list has no room for more, and reading thousands of files at once would block the page.
    for (const file of files.slice(0, maxFiles)) {
      const id = (lastId.current += 1)
      dispatch({ kind: 'add', id, file })
      if (file.size <= maxFileBytes)
        void readPackage(file).then((result) => dispatch({ kind: 'read', id, result }))
    }
  }, [])
  return {
    items,
    isActive: items.some(isActive),
    isEnabling,
    setEnabling,
    add,
    edit: (id, manifest) => dispatch({ kind: 'edit', id, manifest }),
    start: () => dispatch({ kind: 'start' }),
    retry: (id) => dispatch({ kind: 'retry', id }),
    cancel: (id) => {
      const controller = running.current.get(id)
      if (controller === undefined) dispatch({ kind: 'state', id, state: { kind: 'cancelled' } })
      else controller.abort()
    },
    remove: (id) => dispatch({ kind: 'remove', id }),
  }
}
