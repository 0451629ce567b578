// What a backup is called where only a name is shown.

export const nameOfBackup = ({ instance_name }: { instance_name: string | null }): string => instance_name ?? "Uploaded archive";
