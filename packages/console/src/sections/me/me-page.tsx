// The caller: roles, own tokens, notifications, and the settings of this browser.
import './me.css'
import { type ReactNode, useState } from 'react'
import { useRead } from '../../api/requests.ts'
import { type ListSearch, useListSearch } from '../../app/list-search.ts'
import { useSystemMay } from '../../app/use-system-may.ts'
import { meTokenCountDocument, shellInboxDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { Page } from '../../kit/page.tsx'
import { Tabs } from '../../kit/tabs.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { AccessTab } from './access-tab.tsx'
import { AccountTab } from './account-tab.tsx'
import { CreateToken } from './create-token.tsx'
import { InboxTab, MarkAllButton } from './inbox-tab.tsx'
import { OwnTokenPanel } from './own-token-panel.tsx'
import { PreferencesTab } from './preferences-tab.tsx'
import { TokensTab } from './tokens-tab.tsx'

const tabs = ['account', 'access', 'tokens', 'inbox', 'preferences'] as const
type Tab = (typeof tabs)[number]

/** The filters of one tab do not apply to the other tabs. */
const noFilters = { q: undefined, status: undefined, show: undefined, sort: undefined, page: undefined }

export function MePage(): ReactNode {
  const t = useText()
  const list = useListSearch()
  const [isCreating, setCreating] = useState(false)
  const counts = useCounts()
  const tab: Tab = tabs.find((id) => id === list.search['tab']) ?? 'account'
  const contents: Record<Tab, ReactNode> = {
    account: <AccountTab />,
    access: <AccessTab />,
    tokens: <TokensTab list={list} onCreate={() => setCreating(true)} />,
    inbox: <InboxTab list={list} />,
    preferences: <PreferencesTab />,
  }
  return (
    <Page
      title={t('section.me')}
      isEdgeToEdge
      actions={<Actions tab={tab} onCreate={() => setCreating(true)} />}
      panel={tab === 'tokens' && list.open !== null && <OpenToken id={list.open} list={list} />}
    >
      <Tabs
        label={t('section.me')}
        items={tabs.map((id) => ({
          id,
          title: t(`me.tab.${id}`),
          content: contents[id],
          isEdgeToEdge: id === 'tokens',
          ...(counts[id] === undefined ? {} : { count: counts[id] }),
        }))}
        selected={tab}
        onSelect={(id) => list.setOpen(null, { ...noFilters, tab: id === 'account' ? undefined : id })}
      />
      {isCreating && (
        <CreateToken
          onClose={() => setCreating(false)}
          onCreated={(id) => {
            setCreating(false)
            list.setOpen(id, { tab: 'tokens' })
          }}
        />
      )}
    </Page>
  )
}

function Actions({ tab, onCreate }: { tab: Tab; onCreate: () => void }): ReactNode {
  const t = useText()
  const mayCreate = useSystemMay('tokens.create')
  if (tab === 'inbox') return <MarkAllButton />
  if (tab !== 'tokens' || !mayCreate) return null
  return (
    <Button variant="primary" icon="add" action="tokens.create" onPress={onCreate}>
      {t('me.newToken')}
    </Button>
  )
}

const OpenToken = ({ id, list }: { id: string; list: ListSearch }): ReactNode => (
  <OwnTokenPanel key={id} id={id} onClose={() => list.setOpen(null, { tab: 'tokens' })} />
)

/** Reads the numbers beside the titles of the tabs. */
function useCounts(): Partial<Record<Tab, string>> {
  const { number } = useFormat()
  const tokens = useRead(meTokenCountDocument, {}).data?.tokens
  const inbox = useRead(shellInboxDocument, {}).data?.myNotifications
  return {
    ...(tokens === undefined
      ? {}
      : { tokens: `${number(tokens.totalCount)}${tokens.isTotalExact ? '' : '+'}` }),
    ...(inbox === undefined || inbox.nodes.length === 0
      ? {}
      : { inbox: `${number(inbox.nodes.length)}${inbox.pageInfo.hasNextPage ? '+' : ''}` }),
  }
}
