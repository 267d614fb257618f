// One member of a tenant: the role can be changed in place, and the member can be removed.
import { type ReactNode, useState } from 'react'
import { may } from '../../app/actions.ts'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { tenantMemberRemoveDocument, tenantMemberUpdateDocument } from '../../generated/documents.ts'
import { Badge } from '../../kit/badge.tsx'
import { IconButton } from '../../kit/button.tsx'
import { DeleteDialog } from '../../kit/dialog.tsx'
import { Select } from '../../kit/form.tsx'
import { SectionRow } from '../../kit/section.tsx'
import { showToast } from '../../kit/toast.tsx'
import { Avatar } from '../../kit/values.tsx'
import { useText } from '../../texts/language.tsx'
import { GroupBadge, useRemoveProblem } from '../members/group-badge.tsx'
import type { Member, Tenant } from './tenant-types.ts'

type MemberRowProps = { tenant: Tenant; member: Member; roleNames: readonly string[] }

export function MemberRow({ tenant, member, roleNames }: MemberRowProps): ReactNode {
  const t = useText()
  const [isRemoving, setRemoving] = useState(false)
  const update = useSubmit(tenantMemberUpdateDocument)
  const findRemoveProblem = useRemoveProblem()
  const { id, revision, roleName, user } = member
  const roles = roleNames.includes(roleName) ? roleNames : [roleName, ...roleNames]
  return (
    <>
      <SectionRow
        isTall
        end={
          <>
            <GroupBadge membership={member} />
            {may(tenant, 'tenants.changeMember') ? (
              <Select
                label={t('tenants.roleOf', user.externalName)}
                isLabelHidden
                isSmall
                value={roleName}
                action="tenants.changeMember"
                options={roles.map((role) => ({ id: role, text: role }))}
                onChange={(role) => {
                  if (role === roleName) return
                  update.send({ id, role, revision }, () =>
                    showToast(t('tenants.roleChanged', user.externalName, role)),
                  )
                }}
              />
            ) : (
              <Badge tone="outline">{roleName}</Badge>
            )}
            {may(tenant, 'tenants.removeMember') && (
              <IconButton
                icon="delete"
                size="small"
                action="tenants.removeMember"
                label={t('tenants.removeMember', user.externalName)}
                disabledReason={findRemoveProblem(member)}
                onPress={() => setRemoving(true)}
              />
            )}
          </>
        }
      >
        <Avatar name={user.externalName} />
        <div className="member-row">
          <span className="truncate" title={user.externalName}>
            {user.externalName}
          </span>
          <span className="truncate member-mail" title={user.externalEmail}>
            {user.externalEmail}
          </span>
        </div>
      </SectionRow>
      <ChangeFailure failure={update.failure} onReload={update.reset} />
      {isRemoving && <RemoveMember tenant={tenant} member={member} onClose={() => setRemoving(false)} />}
    </>
  )
}

type RemoveMemberProps = { tenant: Tenant; member: Member; onClose: () => void }

function RemoveMember({ tenant, member, onClose }: RemoveMemberProps): ReactNode {
  const t = useText()
  const { send, isPending, failure } = useSubmit(tenantMemberRemoveDocument)
  const name = member.user.externalName
  return (
    <DeleteDialog
      title={t('tenants.removeMemberTitle', name, tenant.name)}
      isOpen
      confirmation={null}
      isPending={isPending}
      failure={<ChangeFailure failure={failure} onReload={onClose} />}
      onClose={onClose}
      onDelete={() =>
        send({ id: member.id, revision: member.revision }, () => {
          showToast(t('tenants.memberRemoved', name, tenant.name))
          onClose()
        })
      }
    >
      <p>{t('tenants.removeMemberHint', member.roleName)}</p>
    </DeleteDialog>
  )
}
