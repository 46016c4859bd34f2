//! Whether a directory lies on a file system whose locks and shared memory cannot be trusted.

use std::path::Path;

use crate::error::StoreError;

/// Refuses network and shared file systems: the write-ahead log needs memory shared between all
/// processes that use the file, which they do not give.
pub(crate) fn refuse_network(directory: &Path) -> Result<(), StoreError> {
    match filesystem(directory) {
        Some(filesystem) => Err(StoreError::NetworkFilesystem {
            path: directory.to_path_buf(),
            filesystem: filesystem.to_owned(),
        }),
        None => Ok(()),
    }
}

#[cfg(target_os = "linux")]
fn filesystem(directory: &Path) -> Option<&'static str> {
    let magic = rustix::fs::statfs(directory).ok()?.f_type;
    let magic = u32::try_from(magic & 0xFFFF_FFFF).ok()?;
    if magic == FUSE { unsafe_fuse(directory) } else { network_name(magic) }
}

#[cfg(not(target_os = "linux"))]
fn filesystem(_directory: &Path) -> Option<&'static str> {
    None
}

/// Both FUSE and virtiofs.
#[cfg(target_os = "linux")]
const FUSE: u32 = 0x6573_5546;

/// The name of a network or shared file system, from the magic numbers of statfs(2).
#[cfg(target_os = "linux")]
fn network_name(magic: u32) -> Option<&'static str> {
    Some(match magic {
        0x6969 => "NFS",
        0x517B | 0xFE53_4D42 | 0xFF53_4D42 => "SMB",
        0x0102_1997 => "9P",
        0x00C3_6400 => "Ceph",
        0x5346_414F | 0x6B41_4653 => "AFS",
        0x0BD0_0BD0 => "Lustre",
        0x4750_4653 => "GPFS",
        0x7461_636F => "OCFS2",
        0x0116_1970 => "GFS2",
        0x7375_7245 => "Coda",
        0x786F_4256 => "VirtualBox shared",
        0xBACB_ACBC => "VMware shared",
        0x2003_0528 => "OrangeFS",
        _ => return None,
    })
}

/// FUSE carries local file systems too; what kind this is stands in the table of mounts.
#[cfg(target_os = "linux")]
fn unsafe_fuse(directory: &Path) -> Option<&'static str> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let directory = std::path::absolute(directory).ok()?;
    match fuse_kind(&mounts, &directory)? {
        "fuseblk"
        | "fuse.gocryptfs"
        | "fuse.cryfs"
        | "fuse.encfs"
        | "fuse.mergerfs"
        | "fuse.fuse-overlayfs" => None,
        "virtiofs" => Some("virtiofs"),
        _ => Some("FUSE"),
    }
}

/// The type of the innermost mount that holds `directory`.
#[cfg(target_os = "linux")]
fn fuse_kind<'m>(mounts: &'m str, directory: &Path) -> Option<&'m str> {
    mounts
        .lines()
        .filter_map(|line| {
            let (place, kind) = line.split_once(" - ")?;
            let point = place.split(' ').nth(4)?.replace("\\040", " ");
            directory.starts_with(&point).then_some((point.len(), kind.split(' ').next()?))
        })
        .max_by_key(|(length, _)| *length)
        .map(|(_, kind)| kind)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_known_by_number_and_local_ones_pass() {
        assert_eq!(network_name(0x6969), Some("NFS"));
        assert_eq!(network_name(0xFE53_4D42), Some("SMB"));
        for local in [0xEF53, 0x9123_683E, 0x5846_5342, 0x0102_1994, 0x794C_7630] {
            assert_eq!(network_name(local), None, "{local:x}");
        }
    }

    #[test]
    fn the_innermost_mount_decides() {
        let mounts = "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
                      50 21 0:45 / /mnt/my\\040share rw - fuse.sshfs host: rw\n\
                      51 21 0:46 / /mnt rw - virtiofs tag rw\n";
        assert_eq!(fuse_kind(mounts, Path::new("/home/me")), Some("ext4"));
        assert_eq!(fuse_kind(mounts, Path::new("/mnt/my share/home")), Some("fuse.sshfs"));
        assert_eq!(fuse_kind(mounts, Path::new("/mnt/other")), Some("virtiofs"));
    }

    #[test]
    fn the_temporary_directory_is_local() {
        assert!(refuse_network(&std::env::temp_dir()).is_ok());
    }
}
