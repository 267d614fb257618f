// Gives the members of a group a role in a project, a tenant or an application.
import { type ReactNode, useState } from 'react'
import { useRead } from '../../api/requests.ts'
import { FormDialog } from '../../app/form-dialog.tsx'
import { ApplicationOfProjectPicker, TenantOfProjectPicker } from '../../app/object-pickers.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { provisioningCreateRuleDocument, shellProjectDocument } from '../../generated/documents.ts'
import { Select } from '../../kit/form.tsx'
import { Note } from '../../kit/note.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import { type Kind, kinds } from '../members/kinds.ts'
import { RoleChoice } from '../members/role-choice.tsx'
import { useAllRoles } from '../members/roles.ts'
import { ProjectPicker } from '../system/project-picker.tsx'

type AddRuleProps = {
  group: { readonly id: string; readonly displayName: string; readonly memberCount: number }
  onClose: () => void
}

/** The object that the person has chosen so far. A choice resets the choices that depend on it. */
type Target = {
  readonly kind: Kind
  readonly slug: string | null
  /** The tenant or the application. */
  readonly partId: string | null
  readonly role: string | null
}

const noTarget: Target = { kind: 'project', slug: null, partId: null, role: null }

export function AddRuleDialog({ group, onClose }: AddRuleProps): ReactNode {
  const t = useText()
  const [target, setTarget] = useState(noTarget)
  const { kind, slug, partId, role } = target
  const project = useRead(shellProjectDocument, { slug: slug ?? '' }, { isEnabled: slug !== null }).data
    ?.project
  const objectId = (kind === 'project' ? project?.id : partId) ?? null
  const roles = useAllRoles(kind, objectId)
  const { send, isPending, failure, reset } = useSubmit(provisioningCreateRuleDocument)
  const change = (changes: Partial<Target>): void => {
    reset()
    setTarget({ ...target, ...changes })
  }
  return (
    <FormDialog
      title={t('provisioning.addRuleTo', group.displayName)}
      submitText={t('provisioning.addRule')}
      disabledReason={
        objectId === null
          ? t(`provisioning.choose.${slug === null ? 'project' : kind}`)
          : role === null
            ? t('members.chooseRole')
            : null
      }
      isDirty={slug !== null}
      isPending={isPending}
      failure={failure}
      fieldNames={['role']}
      onClose={onClose}
      onSubmit={() => {
        if (objectId === null || role === null) return
        send({ input: { groupId: group.id, [`${kind}Id`]: objectId, role } }, () => {
          showToast(t('provisioning.ruleAdded', group.displayName, role))
          onClose()
        })
      }}
    >
      <Select
        label={t('provisioning.roleIn')}
        value={kind}
        options={kinds.map((id) => ({ id, text: t(`members.of.${id}`) }))}
        onChange={(id) =>
          change({ kind: kinds.find((known) => known === id) ?? 'project', partId: null, role: null })
        }
      />
      <ProjectPicker
        value={project ?? null}
        isRequired
        onChange={(next) => change({ slug: next, partId: null, role: null })}
      />
      {slug !== null && kind === 'tenant' && (
        <TenantOfProjectPicker
          key={slug}
          projectSlug={slug}
          label={t('members.of.tenant')}
          id={partId}
          isRequired
          onChange={(id) => change({ partId: id, role: null })}
        />
      )}
      {slug !== null && kind === 'application' && (
        <ApplicationOfProjectPicker
          key={slug}
          projectSlug={slug}
          label={t('members.of.application')}
          id={partId}
          isRequired
          onChange={(id) => change({ partId: id })}
        />
      )}
      {objectId !== null && (
        <RoleChoice name="role" roles={roles} value={role} onChange={(name) => change({ role: name })} />
      )}
      <Note tone="info">{t('provisioning.ruleEffect', group.memberCount)}</Note>
    </FormDialog>
  )
}
