// Accepts files that a person drags onto the page. Without this, the browser would open a dropped file and leave the
// page.
import { useEffect, useEffectEvent, useState } from 'react'

const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') ?? false

/** Returns whether files are over the page. */
export function useFileDrop(isEnabled: boolean, onFiles: (files: readonly File[]) => void): boolean {
  const [isOver, setOver] = useState(false)
  const accept = useEffectEvent(onFiles)
  useEffect(() => {
    if (!isEnabled) return
    const enter = (event: DragEvent): void => {
      if (!hasFiles(event)) return
      event.preventDefault()
      if (event.dataTransfer !== null) event.dataTransfer.dropEffect = 'copy'
      setOver(true)
    }
    const leave = (event: DragEvent): void => {
      // The pointer has left the window, and not only one of its elements.
      if (event.relatedTarget === null) setOver(false)
    }
    const drop = (event: DragEvent): void => {
      if (!hasFiles(event)) return
      event.preventDefault()
      setOver(false)
      accept([...(event.dataTransfer?.files ?? [])])
    }
    globalThis.addEventListener('dragover', enter)
    globalThis.addEventListener('dragleave', leave)
    globalThis.addEventListener('drop', drop)
    return () => {
      globalThis.removeEventListener('dragover', enter)
      globalThis.removeEventListener('dragleave', leave)
      globalThis.removeEventListener('drop', drop)
    }
  }, [isEnabled])
  return isEnabled && isOver
}
