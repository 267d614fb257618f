// The members of a tenant and their roles.
import { type ReactNode, useState } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { may } from '../../app/actions.ts'
import { useDebounced } from '../../app/debounced.ts'
import { tenantMemberPageDocument, tenantRoleListDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { SearchField } from '../../kit/form.tsx'
import type { PageSize } from '../../kit/page-sizes.ts'
import { Pager } from '../../kit/pager.tsx'
import { Section, SectionText } from '../../kit/section.tsx'
import { FailureState, Skeleton } from '../../kit/state.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { AddMember } from './member-add.tsx'
import { MemberRow } from './member-row.tsx'
import type { Tenant } from './tenant-types.ts'

/** Longer lists of members have a search field. */
const searchFrom = 10

export function TenantMembers({ tenant }: { tenant: Tenant }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const [text, setText] = useState('')
  const [page, setPage] = useState(1)
  const [size, setSize] = useState<PageSize>(25)
  const [isAdding, setAdding] = useState(false)
  const name = useDebounced(text.trim())
  const { data, error, refetch } = useRead(
    tenantMemberPageDocument,
    {
      tenant: tenant.id,
      filters: name === '' ? [] : [{ field: 'userName', value: name }],
      pagination: { limit: size, offset: (page - 1) * size },
    },
    { keepsPrevious: true },
  )
  const roleNames = useRoleNames(tenant)
  if (data === undefined)
    return error === null ? (
      <Skeleton rows={8} />
    ) : (
      <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
    )
  const { nodes, totalCount, isTotalExact } = data.user2tenantsConnection
  return (
    <Section
      title={t('section.members')}
      note={number(totalCount)}
      action={
        may(tenant, 'tenants.addMember') && (
          <Button size="small" icon="add" action="tenants.addMember" onPress={() => setAdding(true)}>
            {t('tenants.addMember')}
          </Button>
        )
      }
    >
      {(totalCount > searchFrom || text !== '') && (
        <SearchField
          label={t('tenants.searchMembers')}
          value={text}
          onChange={(next) => {
            setText(next)
            setPage(1)
          }}
          isWide
        />
      )}
      {nodes.length === 0 && (
        <SectionText>{name === '' ? t('tenants.noMembers') : t('tenants.noMemberMatch')}</SectionText>
      )}
      {nodes.map((member) => (
        <MemberRow key={member.id} tenant={tenant} member={member} roleNames={roleNames} />
      ))}
      {totalCount > size && (
        <div className="member-pager">
          <Pager
            page={page}
            size={size}
            shown={nodes.length}
            total={totalCount}
            isTotalExact={isTotalExact}
            onPage={setPage}
            onSize={(next) => {
              setSize(next)
              setPage(1)
            }}
          />
        </div>
      )}
      {isAdding && <AddMember tenant={tenant} roleNames={roleNames} onClose={() => setAdding(false)} />}
    </Section>
  )
}

/** Reads the names of the roles that members can have; the list is empty if the caller may not read them. */
function useRoleNames(tenant: Tenant): readonly string[] {
  const { data } = useRead(
    tenantRoleListDocument,
    { tenant: tenant.id },
    { isEnabled: tenant.myPermissions.includes('TENANT_ROLE_READ') },
  )
  return data?.tenantRoleDefinitionsConnection.nodes.map(({ name }) => name) ?? []
}
