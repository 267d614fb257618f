// Buttons in the header of a panel: the previous and the next item of the list, and the address of the open item.
import type { ReactNode } from 'react'
import { IconButton } from '../kit/button.tsx'
import { showToast } from '../kit/toast.tsx'
import { useText } from '../texts/language.tsx'

type ItemActionsProps = {
  /** The ids of the listed rows, in the order of the list. */
  ids: readonly string[]
  openId: string
  onOpen: (id: string) => void
}

export function ItemActions({ ids, openId, onOpen }: ItemActionsProps): ReactNode {
  const t = useText()
  const index = ids.indexOf(openId)
  const previous = index < 0 ? undefined : ids[index - 1]
  const next = index < 0 ? undefined : ids[index + 1]
  const copyLink = async (): Promise<void> => {
    await navigator.clipboard.writeText(location.href)
    showToast(t('app.linkCopied'))
  }
  return (
    <>
      <IconButton
        icon="chevronUp"
        size="small"
        label={t('app.previousItem')}
        isDisabled={previous === undefined}
        onPress={() => previous !== undefined && onOpen(previous)}
      />
      <IconButton
        icon="chevronDown"
        size="small"
        label={t('app.nextItem')}
        isDisabled={next === undefined}
        onPress={() => next !== undefined && onOpen(next)}
      />
      <IconButton icon="link" size="small" label={t('app.copyLink')} onPress={() => void copyLink()} />
    </>
  )
}
