// The text of a search field. The address is updated when the person pauses, so that not every key press sends a
// request.
import { useEffect, useRef, useState } from 'react'
import type { ListSearch } from './list-search.ts'

const pauseMs = 200

/**
 * Returns the text of the field and the function that changes it. The parameter `q` of the address contains the text.
 */
export function useSearchText({ search, setFilter }: ListSearch): readonly [string, (text: string) => void] {
  const current = search['q'] ?? ''
  const [text, setText] = useState(current)
  const sent = useRef(current)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // Back and links can change the address without changing the field.
  useEffect(() => {
    if (current === sent.current) return
    sent.current = current
    setText(current)
  }, [current])
  useEffect(() => () => clearTimeout(timer.current), [])
  const change = (next: string): void => {
    setText(next)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      sent.current = next.trim()
      setFilter({ q: next.trim() === '' ? undefined : next.trim() })
    }, pauseMs)
  }
  return [text, change]
}
