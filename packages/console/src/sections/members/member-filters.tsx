// The filters of the members page: the view, the object, the person and the role.
import type { ReactNode } from 'react'
import type { ListSearch } from '../../app/list-search.ts'
import { ApplicationPicker, TenantPicker } from '../../app/object-pickers.tsx'
import { useSearchText } from '../../app/use-search-text.ts'
import { SearchField, Select } from '../../kit/form.tsx'
import { Segments } from '../../kit/tabs.tsx'
import { useText } from '../../texts/language.tsx'
import { type Kind, kinds } from './kinds.ts'
import { useRoles } from './roles.ts'

const anyRole = '*'

type FiltersProps = { list: ListSearch; kind: Kind; targetId: string | null; isReach: boolean }

export function MemberFilters({ list, kind, targetId, isReach }: FiltersProps): ReactNode {
  const t = useText()
  const { search, setFilter } = list
  const [text, setText] = useSearchText(list)
  const roles = useRoles(kind, targetId)
  return (
    <>
      <Segments
        label={t('reach.view')}
        items={[
          { id: 'members', text: t('reach.viewMembers') },
          { id: 'access', text: t('reach.who') },
        ]}
        selected={isReach ? 'access' : 'members'}
        onSelect={(id) =>
          setFilter({ view: id === 'access' ? id : undefined, role: undefined, sort: undefined })
        }
      />
      <Segments
        label={t('members.kind')}
        items={kinds.map((id) => ({ id, text: t(`members.of.${id}`) }))}
        selected={kind}
        onSelect={(id) => setFilter({ in: id === 'project' ? undefined : id, role: undefined })}
      />
      {kind === 'tenant' && (
        <TenantPicker
          label={t('members.of.tenant')}
          id={targetId}
          onChange={(id) => setFilter({ tenant: id, role: undefined })}
        />
      )}
      {kind === 'application' && (
        <ApplicationPicker
          label={t('members.of.application')}
          id={targetId}
          onChange={(id) => setFilter({ application: id, role: undefined })}
        />
      )}
      <SearchField label={t('members.search')} value={text} onChange={setText} />
      {!isReach && (
        <Select
          label={t('members.role')}
          isChip
          value={search['role'] ?? anyRole}
          options={[
            { id: anyRole, text: t('app.any') },
            ...(roles ?? []).map(({ name }) => ({ id: name, text: name })),
          ]}
          onChange={(role) => setFilter({ role: role === anyRole ? undefined : role })}
        />
      )}
    </>
  )
}
