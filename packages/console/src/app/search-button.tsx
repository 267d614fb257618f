// The search field in the top bar. It opens the search, as Ctrl-K does; the search itself is loaded on demand.
import { type ReactNode, useEffect, useState } from 'react'
import { Button as AriaButton } from 'react-aria-components'
import { Icon } from '../kit/icon.tsx'
import { loadOnDemand } from '../kit/on-demand.tsx'
import { useText } from '../texts/language.tsx'
import type { SearchDialogProps } from './search-dialog.tsx'

const SearchDialog = loadOnDemand(async () => (await import('./search-dialog.tsx')).SearchDialog)
const isMac = /mac/i.test(navigator.userAgent)

export function SearchButton(props: Omit<SearchDialogProps, 'onClose'>): ReactNode {
  const t = useText()
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const openOnShortcut = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k') return
      event.preventDefault()
      setOpen(true)
    }
    globalThis.addEventListener('keydown', openOnShortcut)
    return () => globalThis.removeEventListener('keydown', openOnShortcut)
  }, [])
  return (
    <>
      <AriaButton
        className="search-button"
        aria-label={t('app.searchHint')}
        aria-keyshortcuts={isMac ? 'Meta+K' : 'Control+K'}
        onHoverStart={SearchDialog.preload}
        onFocus={SearchDialog.preload}
        onPress={() => setOpen(true)}
      >
        <Icon name="search" />
        <span className="wide-only search-button-text truncate">{t('app.searchHint')}</span>
        {/* The style sheet shows the shortcut, because it is not part of the button's name. */}
        <kbd className="wide-only" data-keys={isMac ? '⌘ K' : t('app.searchKey')} />
      </AriaButton>
      {isOpen && <SearchDialog {...props} onClose={() => setOpen(false)} />}
    </>
  )
}
