// The title of the browser tab: the page, then the name of the console.
import { useEffect } from 'react'
import { useText } from '../texts/language.tsx'

export function useDocumentTitle(title: string): void {
  const t = useText()
  useEffect(() => {
    document.title = `${title} · ${t('app.name')}`
  }, [title, t])
}
