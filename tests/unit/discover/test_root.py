import os
import shutil

from ingestd.discover.guard import emptied, mass_removal
from ingestd.discover.mounts import Mount, mounts, mounts_in
from ingestd.discover.root import Online, Replaced, RootIdentity, Vanished, examine


def test_a_root_that_was_never_seen_is_online(site):
    assert examine(site.root, None, site.ledger) == Online(identity=RootIdentity.of(site.folder.stat()))


def test_the_same_root_is_online_again(site):
    site.write("a.md")
    site.learn()
    identity = RootIdentity.of(site.folder.stat())
    assert examine(site.root, identity, site.ledger) == Online(identity=identity)


def test_a_root_reached_through_a_link_is_online(site):
    link = site.folder.with_name("link")
    link.symlink_to(site.folder)
    assert isinstance(examine(os.fsencode(link), None, site.ledger), Online)


def test_a_missing_root_has_vanished(site):
    shutil.rmtree(site.folder)
    assert isinstance(examine(site.root, None, site.ledger), Vanished)


def test_a_root_that_is_a_file_has_vanished(site):
    shutil.rmtree(site.folder)
    site.folder.write_bytes(b"")
    assert "is no directory" in examine(site.root, None, site.ledger).reason


def test_a_root_without_permission_has_vanished(open_site, unprivileged):
    open_site.folder.chmod(0)
    with unprivileged():
        examined = examine(open_site.root, None, open_site.ledger)
    open_site.folder.chmod(0o755)
    assert "Permission denied" in examined.reason


def test_an_emptied_root_has_vanished(site):
    path = site.write("a.md")
    site.learn()
    path.unlink()
    assert "is empty, but 1 sources are known" in examine(site.root, None, site.ledger).reason


def test_an_empty_root_of_which_nothing_is_known_is_online(site):
    assert isinstance(examine(site.root, RootIdentity(device=1, inode=1), site.ledger), Online)


def test_another_directory_with_other_files_has_vanished(site):
    for number in range(4):
        site.write(f"{number}.md")
    site.learn()
    identity = RootIdentity.of(site.folder.stat())
    site.folder.rename(site.folder.with_name("old"))
    site.folder.mkdir()
    site.write("0.md")
    assert "3 of 4 sources are not there" in examine(site.root, identity, site.ledger).reason


def test_another_directory_with_the_same_files_is_replaced(site):
    for number in range(4):
        site.write(f"in/{number}.md")
    site.learn()
    identity = RootIdentity.of(site.folder.stat())
    old = site.folder.rename(site.folder.with_name("old"))
    shutil.copytree(old, site.folder)
    (site.folder / "in" / "0.md").write_bytes(b"other than it was")
    examined = examine(site.root, identity, site.ledger)
    assert examined == Replaced(identity=RootIdentity.of(site.folder.stat()), looked_for=4, found=4, alike=3)


def test_few_removals_need_no_question():
    assert not mass_removal(50, 60)
    assert mass_removal(51, 60)
    assert not mass_removal(200, 1000)
    assert mass_removal(201, 1000)
    assert not mass_removal(0, 0)


def test_the_last_source_of_a_root_never_goes_without_a_question():
    assert emptied(1, 1)
    assert not emptied(1, 2)
    assert not emptied(0, 0)


TABLE = rb"""22 28 0:21 / /proc rw,nosuid - proc proc rw
28 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
40 28 0:50 / /srv rw - ext4 /dev/vdb rw
41 40 0:51 / /srv/docs/on\040nas rw - nfs4 nas:/x rw
42 40 0:52 / /srv/docs/usb rw - vfat /dev/sdb1 rw
43 40 0:53 / /srv/docs2 rw - cifs //nas/y rw
44 40 0:54 / /srv/docs/cloud rw shared:3 - fuse.rclone remote: rw
"""


def test_mounts_below_a_root_are_found_with_the_one_that_holds_it():
    assert mounts_in(TABLE, b"/srv/docs") == (
        Mount(path=b"", type="ext4", needs_polling=False),
        Mount(path=b"cloud", type="fuse.rclone", needs_polling=True),
        Mount(path=b"on nas", type="nfs4", needs_polling=True),
        Mount(path=b"usb", type="vfat", needs_polling=False),
    )


def test_a_root_that_is_a_mount_of_its_own_is_known_by_its_own_type():
    assert mounts_in(TABLE, b"/srv/docs2") == (Mount(path=b"", type="cifs", needs_polling=True),)


def test_the_top_of_the_system_may_be_a_root():
    assert {mount.path for mount in mounts_in(TABLE, b"/")} >= {b"", b"srv", b"proc"}


def test_a_later_mount_hides_an_earlier_one():
    assert mounts_in(TABLE + b"50 28 0:60 / /srv rw - 9p share rw\n", b"/srv/x")[0].type == "9p"


def test_lines_that_are_no_mounts_are_passed_over():
    assert mounts_in(b"nonsense\n\n1 2 3\n", b"/srv") == ()


def test_the_running_system_tells_what_holds_a_folder(tmp_path):
    assert mounts(os.fsencode(tmp_path))[0].path == b""
